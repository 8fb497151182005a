/* rsk_text.c: what the reader checks of labels, names and metadata.
 *
 * docs/spec/format.md, the end of section 3; src/repsketch/io/strings.py and metadata.py are the same in Python.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"

enum {
    STRING_CAP = 1024,
    METADATA_CAP = 32768,
    DEPTH_CAP = 4,
    KEY_CAP = 64,
    EXPONENT_DIGITS_CAP = 8,
    LARGEST_POWER = 308 /* of ten; a number that begins there may not fit a float64 */
};

/* Length of the UTF-8 character at bytes[0], n > 0 bytes being left; 0 if there is none. */
static uint32_t character_length(const uint8_t *bytes, uint32_t n) {
    const uint8_t first = bytes[0];
    if (first < 0x80) return 1;
    const uint32_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4 || length > n) return 0;
    for (uint32_t i = 1; i < length; i++)
        if ((bytes[i] & 0xC0) != 0x80) return 0;
    const uint8_t second = bytes[1]; /* its range excludes overlong encodings, surrogates and what is above U+10FFFF */
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
    return length;
}

static bool is_utf8(const uint8_t *bytes, uint32_t n) {
    uint32_t length;
    for (uint32_t at = 0; at < n; at += length)
        if ((length = character_length(bytes + at, n - at)) == 0) return false;
    return true;
}

/* As memchr, which a device without a C library lacks. */
static bool has_byte(const uint8_t *bytes, uint32_t n, uint8_t wanted) {
    for (uint32_t i = 0; i < n; i++)
        if (bytes[i] == wanted) return true;
    return false;
}

/* ---- tables of strings ---- */

typedef struct {
    const uint8_t *order, *ends, *text;
} table;

static uint32_t string_start(const table *strings, uint32_t index) {
    return index == 0 ? 0 : rsk_u32(strings->ends + 4 * (size_t)(index - 1));
}

static uint32_t string_length(const table *strings, uint32_t index) {
    return rsk_u32(strings->ends + 4 * (size_t)index) - string_start(strings, index);
}

/* Below 0, 0 or above 0 as string a comes before, equals or comes after string b. */
static int compare_strings(const table *strings, uint32_t a, uint32_t b) {
    const uint32_t length_a = string_length(strings, a), length_b = string_length(strings, b);
    const int by_bytes = memcmp(strings->text + string_start(strings, a), strings->text + string_start(strings, b),
                                length_a < length_b ? length_a : length_b);
    return by_bytes != 0 ? by_bytes : (length_a > length_b) - (length_a < length_b);
}

static rsk_status check_string(const uint8_t *bytes, uint32_t length) {
    if (length > STRING_CAP) return RSK_STRING_CAP;
    if (!is_utf8(bytes, length) || has_byte(bytes, length, 0)) return RSK_TEXT;
    return RSK_OK;
}

/* n >= 1 strings that end where `ends` says, the last one after text_nbytes. */
static rsk_status check_strings(const table *strings, uint32_t n, uint64_t text_nbytes) {
    for (uint32_t i = 1; i < n; i++)
        if (rsk_u32(strings->ends + 4 * (size_t)i) < string_start(strings, i)) return RSK_SIZE_MISMATCH;
    if (rsk_u32(strings->ends + 4 * (size_t)(n - 1)) != text_nbytes) return RSK_SIZE_MISMATCH;
    for (uint32_t i = 0; i < n; i++)
        RSK_TRY(check_string(strings->text + string_start(strings, i), string_length(strings, i)));
    return RSK_OK;
}

rsk_status rsk_table_check(const uint8_t *bytes, uint32_t nbytes, uint32_t n, rsk_status too_short,
                           rsk_status duplicate) {
    if (nbytes < 8 * (uint64_t)n) return too_short;
    const table strings = {bytes, bytes + 4 * (size_t)n, bytes + 8 * (size_t)n};
    RSK_TRY(check_strings(&strings, n, nbytes - 8 * (uint64_t)n));
    uint32_t previous = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t index = rsk_u32(strings.order + 4 * (size_t)i);
        if (index >= n) return RSK_INDEX_RANGE;
        const int rise = i == 0 ? 1 : compare_strings(&strings, index, previous);
        if (rise <= 0) return rise == 0 ? duplicate : RSK_INDEX_ORDER;
        previous = index;
    }
    return RSK_OK;
}

rsk_status rsk_categories_check(const uint8_t *bytes, uint32_t nbytes, const uint8_t *kinds, uint32_t n_columns) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < n_columns; i++) n += rsk_u16(kinds + 2 * (size_t)i) > 1 ? rsk_u16(kinds + 2 * (size_t)i) : 0;
    if (n == 0 || nbytes < 4 * n) return RSK_NAME_COUNT;
    const table labels = {NULL, bytes, bytes + 4 * n};
    RSK_TRY(check_strings(&labels, (uint32_t)n, nbytes - 4 * n));
    uint32_t label = 0;
    for (uint32_t i = 0; i < n_columns; i++) {
        const uint32_t kind = rsk_u16(kinds + 2 * (size_t)i);
        if (kind < 2) continue;
        for (uint32_t j = 1; j < kind; j++) {
            const int rise = compare_strings(&labels, label + j, label + j - 1);
            if (rise <= 0) return rise == 0 ? RSK_NAME_DUPLICATE : RSK_INDEX_ORDER;
        }
        label += kind;
    }
    return RSK_OK;
}

/* ---- class labels ---- */

enum { LABEL_INT64 = 0, LABEL_FLOAT64, LABEL_BOOL, LABEL_TEXT };

static rsk_status check_label(const uint8_t *labels, uint32_t kind, uint32_t index) {
    if (kind == LABEL_BOOL && labels[index] > 1) return RSK_FIELD;
    if (kind == LABEL_FLOAT64 && (rsk_u64(labels + 8 * (size_t)index) >> 52 & 0x7FF) == 0x7FF) return RSK_NOT_FINITE;
    return RSK_OK;
}

static int compare_labels(const uint8_t *labels, uint32_t kind, uint32_t a, uint32_t b) {
    if (kind == LABEL_BOOL) return (int)labels[a] - (int)labels[b];
    const uint8_t *first = labels + 8 * (size_t)a, *second = labels + 8 * (size_t)b;
    if (kind == LABEL_FLOAT64) return (rsk_f64(first) > rsk_f64(second)) - (rsk_f64(first) < rsk_f64(second));
    return (rsk_i64(first) > rsk_i64(second)) - (rsk_i64(first) < rsk_i64(second));
}

static rsk_status check_numeric_labels(const uint8_t *bytes, uint32_t nbytes, uint32_t n, uint32_t kind) {
    const uint64_t start = 8 + (4 * (uint64_t)n + 7) / 8 * 8;
    if (nbytes != start + (kind == LABEL_BOOL ? 1 : 8) * (uint64_t)n) return RSK_CLASS_COUNT;
    for (uint64_t i = 8 + 4 * (uint64_t)n; i < start; i++)
        if (bytes[i] != 0) return RSK_PADDING;
    const uint8_t *labels = bytes + start;
    for (uint32_t i = 0; i < n; i++) RSK_TRY(check_label(labels, kind, i));
    uint32_t previous = 0;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t index = rsk_u32(bytes + 8 + 4 * (size_t)i);
        if (index >= n) return RSK_INDEX_RANGE;
        const int rise = i == 0 ? 1 : compare_labels(labels, kind, index, previous);
        if (rise <= 0) return rise == 0 ? RSK_CLASS_DUPLICATE : RSK_INDEX_ORDER;
        previous = index;
    }
    return RSK_OK;
}

rsk_status rsk_classes_check(const uint8_t *bytes, uint32_t nbytes, uint32_t n) {
    if (nbytes < 8) return RSK_CLASS_COUNT;
    const uint32_t kind = rsk_u32(bytes);
    if (kind > LABEL_TEXT) return RSK_FIELD;
    if (rsk_u32(bytes + 4) != 0) return RSK_PADDING;
    if (kind == LABEL_TEXT)
        return rsk_table_check(bytes + 8, nbytes - 8, n, RSK_CLASS_COUNT, RSK_CLASS_DUPLICATE);
    return check_numeric_labels(bytes, nbytes, n, kind);
}

/* ---- metadata ---- */

typedef struct {
    uint16_t start, length; /* between the quotes; 32 KiB of metadata fit */
} string;

typedef struct {
    const uint8_t *bytes;
    uint32_t n, at, depth;
    bool is_array[DEPTH_CAP];
    uint32_t n_keys[DEPTH_CAP];
    string keys[DEPTH_CAP][KEY_CAP]; /* of the objects that are open */
} scanner;

/* The byte `ahead` of the place reached; 0, which is allowed nowhere in JSON, beyond the end. */
static uint8_t peek(const scanner *json, uint32_t ahead) {
    return json->at + ahead < json->n ? json->bytes[json->at + ahead] : 0;
}

static void skip_space(scanner *json) {
    while (peek(json, 0) == ' ' || peek(json, 0) == '\t' || peek(json, 0) == '\n' || peek(json, 0) == '\r') json->at++;
}

static bool is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

static bool is_hex(uint8_t byte) { return is_digit(byte) || ((byte | 32) >= 'a' && (byte | 32) <= 'f'); }

/* True if the word comes next; it is then passed. */
static bool pass_word(scanner *json, const char *word) {
    uint32_t length = 0;
    for (; word[length] != '\0'; length++)
        if (peek(json, length) != (uint8_t)word[length]) return false;
    json->at += length;
    return true;
}

static uint32_t pass_digits(scanner *json) {
    const uint32_t start = json->at;
    while (is_digit(peek(json, 0))) json->at++;
    return json->at - start;
}

/* Bytes of the escape sequence that comes next, 0 if it is none. */
static uint32_t escape_length(const scanner *json) {
    const uint8_t kind = peek(json, 1);
    if (kind != 'u') return has_byte((const uint8_t *)"\"\\/bfnrt", 8, kind) ? 2 : 0;
    for (uint32_t i = 2; i < 6; i++)
        if (!is_hex(peek(json, i))) return 0;
    return 6;
}

static rsk_status pass_string(scanner *json, string *found) {
    if (peek(json, 0) != '"') return RSK_META_SYNTAX;
    const uint32_t start = ++json->at;
    while (peek(json, 0) != '"') {
        if (peek(json, 0) < 0x20) return RSK_META_SYNTAX;
        const uint32_t length = peek(json, 0) == '\\' ? escape_length(json) : 1;
        if (length == 0) return RSK_META_SYNTAX;
        json->at += length;
    }
    if (json->at - start > STRING_CAP) return RSK_STRING_CAP;
    found->start = (uint16_t)start;
    found->length = (uint16_t)(json->at - start);
    json->at++;
    return RSK_OK;
}

static rsk_status pass_number(scanner *json) {
    json->at += peek(json, 0) == '-';
    const uint32_t start = json->at;
    if (peek(json, 0) == '0')
        json->at++; /* and no digit after it */
    else
        pass_digits(json);
    const uint32_t n_ints = json->at - start;
    if (n_ints == 0) return RSK_META_SYNTAX;
    if (peek(json, 0) == '.' && is_digit(peek(json, 1))) {
        json->at++;
        pass_digits(json);
    }
    const uint32_t end = json->at;
    int32_t exponent = 0;
    const uint32_t has_sign = peek(json, 1) == '+' || peek(json, 1) == '-';
    if ((peek(json, 0) | 32) == 'e' && is_digit(peek(json, 1 + has_sign))) {
        const bool is_negative = peek(json, 1) == '-';
        json->at += 1 + has_sign;
        const uint8_t *digits = json->bytes + json->at;
        const uint32_t n_digits = pass_digits(json);
        if (n_digits > EXPONENT_DIGITS_CAP) return RSK_META_NUMBER;
        for (uint32_t i = 0; i < n_digits; i++) exponent = 10 * exponent + (digits[i] - '0');
        if (is_negative) exponent = -exponent;
    }
    uint32_t leading = start; /* the first digit that is not 0 */
    while (leading < end && (json->bytes[leading] == '0' || json->bytes[leading] == '.')) leading++;
    if (leading == end) return RSK_OK;
    const int32_t place = (int32_t)(start + n_ints) - (int32_t)leading; /* 1: units, -1: tenths (0 is the point) */
    return exponent + place - (place > 0) >= LARGEST_POWER ? RSK_META_NUMBER : RSK_OK;
}

static rsk_status pass_scalar(scanner *json) {
    string unused;
    if (peek(json, 0) == '"') return pass_string(json, &unused);
    if (pass_word(json, "true") || pass_word(json, "false") || pass_word(json, "null")) return RSK_OK;
    if (pass_word(json, "NaN") || pass_word(json, "Infinity") || pass_word(json, "-Infinity")) return RSK_META_NUMBER;
    return pass_number(json);
}

/* A key of the innermost object and its colon. */
static rsk_status pass_key(scanner *json) {
    string key;
    RSK_TRY(pass_string(json, &key));
    const uint8_t *text = json->bytes + key.start;
    if (has_byte(text, key.length, '\\')) return RSK_META_SYNTAX;
    string *keys = json->keys[json->depth - 1];
    uint32_t *n_keys = &json->n_keys[json->depth - 1];
    for (uint32_t i = 0; i < *n_keys; i++)
        if (keys[i].length == key.length && memcmp(json->bytes + keys[i].start, text, key.length) == 0)
            return RSK_META_DUPLICATE;
    if (*n_keys == KEY_CAP) return RSK_META_CAP;
    keys[(*n_keys)++] = key;
    skip_space(json);
    if (peek(json, 0) != ':') return RSK_META_SYNTAX;
    json->at++;
    return RSK_OK;
}

static rsk_status open_container(scanner *json) {
    if (json->depth == DEPTH_CAP) return RSK_META_DEPTH;
    json->is_array[json->depth] = peek(json, 0) == '[';
    json->n_keys[json->depth++] = 0;
    json->at++;
    return RSK_OK;
}

rsk_status rsk_metadata_check(const uint8_t *bytes, uint32_t nbytes) {
    if (nbytes > METADATA_CAP) return RSK_META_CAP;
    if (!is_utf8(bytes, nbytes)) return RSK_TEXT;
    scanner json;
    memset(&json, 0, sizeof json);
    json.bytes = bytes;
    json.n = nbytes;
    skip_space(&json);
    if (peek(&json, 0) != '{') return RSK_META_OBJECT;
    RSK_TRY(open_container(&json));
    bool is_fresh = true; /* nothing yet in the innermost container */
    while (json.depth > 0) {
        const bool is_array = json.is_array[json.depth - 1];
        skip_space(&json);
        if (peek(&json, 0) == (is_array ? ']' : '}')) {
            json.at++;
            json.depth--;
            is_fresh = false;
            continue;
        }
        if (!is_fresh) {
            if (peek(&json, 0) != ',') return RSK_META_SYNTAX;
            json.at++;
            skip_space(&json);
        }
        if (!is_array) {
            RSK_TRY(pass_key(&json));
            skip_space(&json);
        }
        is_fresh = peek(&json, 0) == '{' || peek(&json, 0) == '[';
        RSK_TRY(is_fresh ? open_container(&json) : pass_scalar(&json));
    }
    skip_space(&json);
    return json.at == json.n ? RSK_OK : RSK_META_SYNTAX;
}
