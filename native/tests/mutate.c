/* mutate.c: good files with something wrong in them, for mutate_main.c and fuzz_mutator.c.
 *
 * Knows the format (docs/spec/format.md): it changes fields to the values where readers break, moves, cuts, copies and
 * exchanges sections, and then repairs most of what earlier checks would stumble over (sizes that follow from others,
 * lengths of sections, checksums, digests), so that the later checks and the predictions see wrong files too.
 */
#include <string.h>

#include "mutate.h"
#include "rsk_sections.h"

document seeds[MOST_SEEDS];
uint32_t n_seeds;
uint8_t output[2 * LARGEST_FILE];
static uint32_t crc_table[256];

/* ---- contents ---- */

static section *any_section(document *doc) {
    return doc->n_sections == 0 ? NULL : &doc->sections[below(doc->n_sections)];
}

/* MODEL, ROW_GROUP or STAGE. */
static bool is_record(uint32_t type) {
    return type == MODEL || (type >= STAGE ? type % RSK_STAGE_STRIDE : type % RSK_ROW_GROUP_STRIDE) == 0;
}

static void change_bytes(document *doc) {
    section *s = any_section(doc);
    if (s == NULL || s->nbytes == 0) return;
    uint8_t *bytes = own(s, s->nbytes);
    for (uint32_t n = 1 + below(4); n > 0 && s->nbytes > 0; n--) {
        uint8_t *byte = bytes + below(s->nbytes);
        *byte = one_in(2) ? (uint8_t)(*byte ^ 1u << below(8)) : (uint8_t)next_word();
    }
}

/* Some, or all, 32-bit numbers of a section. */
static void change_numbers(document *doc) {
    section *s = any_section(doc);
    if (s == NULL || s->nbytes < 4 || s->type == MODEL) return;
    uint8_t *bytes = own(s, s->nbytes);
    const uint32_t number = one_in(2) ? interesting_float() : interesting(), rarity = one_in(4) ? 1 : 1 + below(16);
    for (uint32_t at = 0; at + 4 <= s->nbytes; at += 4)
        if (one_in(rarity)) put(bytes + at, number, 4);
}

static void fill_bytes(document *doc) {
    static const uint8_t bytes[] = {0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x55, 0x11};
    section *s = any_section(doc);
    if (s == NULL || s->nbytes == 0 || is_record(s->type)) return;
    memset(own(s, s->nbytes), bytes[below(sizeof bytes)], s->nbytes);
}

static void resize(document *doc) {
    section *s = any_section(doc);
    if (s == NULL) return;
    const uint32_t n = one_in(2) ? s->nbytes + below(17) : s->nbytes - (s->nbytes < 16 ? s->nbytes : below(17));
    own(s, one_in(8) ? below(600) : n);
}

static void drop_any(document *doc) {
    if (doc->n_sections > 0) drop(doc, below(doc->n_sections));
}

/* The same type again, or the same content under another type. */
static void duplicate(document *doc) {
    const section *s = any_section(doc);
    if (s == NULL) return;
    section copy = *s;
    if (one_in(2)) copy.type = one_in(2) ? below(70) : interesting();
    if (one_in(2)) copy.flags = below(3);
    add(doc, copy);
}

static void swap(document *doc) {
    section *a = any_section(doc), *b = any_section(doc);
    if (a == NULL || b == NULL) return;
    const section first = *a;
    *a = *b;
    *b = first;
    if (one_in(2)) { /* contents alone */
        b->type = a->type;
        a->type = first.type;
    }
}

/* A section of another file, in place of the one of that type. */
static void splice(document *doc) {
    const document *other = &seeds[below(n_seeds)];
    const section taken = other->sections[below(other->n_sections)];
    section *s = find(doc, taken.type);
    if (s != NULL) *s = taken;
    else add(doc, taken);
}

/* All sections of a group of rows of another file become a further group of this one. */
static void splice_group(document *doc) {
    const document *other = &seeds[below(n_seeds)];
    section *model = find(doc, MODEL);
    const uint32_t base = 8 * below(4);
    for (uint32_t i = doc->n_sections; i-- > 0;)
        if (doc->sections[i].type >= ROW_GROUP + base && doc->sections[i].type < ROW_GROUP + base + 8) drop(doc, i);
    for (uint32_t i = 0; i < other->n_sections; i++) {
        section taken = other->sections[i];
        taken.type += base;
        if (other->sections[i].type >= ROW_GROUP && other->sections[i].type < ROW_GROUP + 8) add(doc, taken);
    }
    model = find(doc, MODEL);
    if (model == NULL || model->nbytes != 64) return;
    uint8_t *bytes = own(model, 64);
    if (model->nbytes == 64 && bytes[3] < base / 8 + 1) bytes[3] = (uint8_t)(base / 8 + 1);
}

/* The stages of another file: all of them, which become those of this one, or one in place of another. */
static void splice_stages(document *doc) {
    const document *other = &seeds[below(n_seeds)];
    const uint32_t first = STAGE + RSK_STAGE_STRIDE * below(4), from = STAGE + RSK_STAGE_STRIDE * below(4);
    const bool takes_all = one_in(2);
    for (uint32_t i = doc->n_sections; i-- > 0;) {
        const uint32_t type = doc->sections[i].type;
        if (takes_all ? type >= STAGE && type < RSK_FIRST_OPTIONAL : type - first < RSK_STAGE_STRIDE) drop(doc, i);
    }
    for (uint32_t i = 0; i < other->n_sections; i++) {
        section taken = other->sections[i];
        if (takes_all ? taken.type < STAGE || taken.type >= RSK_FIRST_OPTIONAL : taken.type - from >= RSK_STAGE_STRIDE)
            continue;
        if (!takes_all) taken.type += first - from;
        add(doc, taken);
    }
    section *model = find(doc, MODEL);
    if (model == NULL || model->nbytes != 64) return;
    uint8_t *bytes = own(model, 64);
    if (model->nbytes != 64 || find(doc, STAGE) == NULL) return;
    bytes[0] = RSK_INT;
    bytes[4] = RSK_PROJECTION_STAGES;
    bytes[39] = 1;
    while (bytes[39] < 4 && find(doc, STAGE + RSK_STAGE_STRIDE * (uint32_t)bytes[39]) != NULL) bytes[39]++;
    if (bytes[6] != RSK_LINEAR_NONE && one_in(4)) bytes[3] = 0;
}

/* ---- text ---- */

static void change_metadata(document *doc) {
    static const char *const tokens[] = {
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u00e9", "\\x", "1e308", "1e307", "-", "0", ".", "e+99999999",
        "NaN", "-Infinity", "true", "null", " ", "\n", "\xC3\xA9", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "[[[[", "\"a\":1,", "01", "1.5e-3",
    };
    static const section fresh = {METADATA, 0, 2, (const uint8_t *)"{}"};
    section *s = find(doc, METADATA);
    if (s == NULL) s = add(doc, fresh);
    if (s == NULL) return;
    for (uint32_t n = 1 + below(3); n > 0; n--) {
        const char *token = tokens[below(sizeof tokens / sizeof tokens[0])];
        const uint32_t length = (uint32_t)strlen(token), old = s->nbytes;
        const uint32_t at = old > 0 && one_in(4) ? 1 : below(old + 1); /* 1: behind the brace, where keys begin */
        const uint32_t cut = one_in(3) ? below(old - at + 1 < 12 ? old - at + 1 : 12) : 0; /* replaced by the token */
        const uint8_t *before = s->bytes;
        uint8_t *bytes = own(s, old + length - cut);
        if (s->nbytes != old + length - cut) return;
        memcpy(bytes, before, at);
        memcpy(bytes + at, token, length);
        memcpy(bytes + at + length, before + at + cut, old - at - cut);
    }
    if (one_in(50)) own(s, 32760 + below(20));
    if (one_in(50)) { /* a long string */
        const uint32_t n = 1020 + below(10);
        uint8_t *bytes = own(s, n + 8);
        if (s->nbytes != n + 8) return;
        memset(bytes, 'x', n + 8);
        memcpy(bytes, "{\"k\":\"", 6);
        memcpy(bytes + n + 6, "\"}", 2);
    }
}

/* Kinds, order and ends of labels, names and categories; counts, borders and quantiles of intervals. */
static void change_table(document *doc) {
    static const uint8_t types[] = {CLASSES, CLASSES, NAMES, SUMS, CATEGORIES, INTERVALS};
    section *s = find(doc, types[below(sizeof types)]);
    if (s == NULL || s->nbytes < 4) return;
    uint8_t *bytes = own(s, s->nbytes);
    const uint32_t n_words = s->nbytes / 4, front = n_words < 12 ? n_words : 12;
    if (n_words == 0) return;
    uint8_t *word = bytes + 4 * below(one_in(2) ? n_words : front), *other = bytes + 4 * below(front);
    uint8_t before[4];
    memcpy(before, word, 4);
    if (one_in(3)) {
        memcpy(word, other, 4);
        memcpy(other, before, 4);
        return;
    }
    put(word, one_in(2) ? below(6) : one_in(2) ? rsk_u32(word) + 1 : interesting(), 4);
}

/* ---- files ---- */

static uint32_t crc32(const uint8_t *bytes, size_t n) { return rsk_crc_add(crc_table, 0, bytes, n); }

static size_t assemble(const document *doc) {
    const uint32_t header = 32 + 24 * doc->n_sections;
    uint32_t offset = header;
    memset(output, 0, header);
    memcpy(output, "\x89RSK", 4);
    put(output + 4, 1, 2);
    put(output + 8, header, 4);
    put(output + 12, doc->n_sections, 4);
    for (uint32_t i = 0; i < doc->n_sections; i++) {
        const section *s = &doc->sections[i];
        uint8_t *entry = output + 32 + 24 * i;
        const uint32_t nbytes = offset + s->nbytes > LARGEST_FILE ? 0 : s->nbytes, end = (offset + nbytes + 7) / 8 * 8;
        put(entry, s->type, 4);
        put(entry + 4, s->flags, 4);
        put(entry + 8, offset, 4);
        put(entry + 12, nbytes, 4);
        memcpy(output + offset, s->bytes, nbytes);
        memset(output + offset + nbytes, 0, end - offset - nbytes);
        put(entry + 16, crc32(output + offset, nbytes), 4);
        offset = end;
    }
    put(output + 16, offset, 4);
    put(output + 20, crc32(output, header), 4);
    return offset;
}

static void repair_header(size_t nbytes) {
    const uint32_t n = rsk_u32(output + 8);
    put(output + 20, 0, 4);
    if (n <= nbytes) put(output + 20, crc32(output, n), 4);
}

static void repair_checksums(size_t nbytes) {
    for (uint32_t i = 0; i < rsk_u32(output + 12) && 56 + 24 * (uint64_t)i <= nbytes && i < MOST_SECTIONS; i++) {
        uint8_t *entry = output + 32 + 24 * i;
        const uint64_t offset = rsk_u32(entry + 8), length = rsk_u32(entry + 12);
        if (offset + length <= nbytes) put(entry + 16, crc32(output + offset, (size_t)length), 4);
    }
    repair_header(nbytes);
}

/* Framing: bytes anywhere, fields of the header and of entries, the end of the file. Returns the new length. */
static size_t change_framing(size_t nbytes) {
    const uint32_t n_sections = rsk_u32(output + 12) % MOST_SECTIONS; /* it may have been changed already */
    uint8_t *entry = output + 32 + 24 * (n_sections == 0 ? 0 : below(n_sections));
    static const uint8_t header_fields[] = {0, 4, 6, 8, 12, 16, 20, 24, 28};
    /* One random number a statement: C does not say which argument of a call comes first. */
    uint32_t place, number;
    switch (below(8)) {
    case 0:
        place = below((uint32_t)nbytes);
        output[place] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        place = header_fields[below(sizeof header_fields)];
        number = interesting();
        put(output + place, number, one_in(2) ? 2 : 4);
        break;
    case 2:
        place = 4 * below(6);
        put(entry + place, interesting(), 4);
        break;
    case 3:
    case 4: /* a small step of a type, a flag, an offset or a length */
        place = 4 * below(4);
        number = one_in(2) ? 8 : 1;
        put(entry + place, rsk_u32(entry + place) + (one_in(2) ? number : 0u - number), 4);
        break;
    case 5: nbytes -= below((uint32_t)nbytes); break;
    case 6:
        number = 1 + below(64);
        memset(output + nbytes, one_in(2) ? 0 : (int)below(256), number);
        nbytes += number;
        if (one_in(2)) put(output + 16, (uint32_t)nbytes, 4);
        break;
    default:
        place = 32 + below((uint32_t)nbytes - 32);
        output[place] = (uint8_t)next_word();
    }
    return nbytes;
}

void repair_digests(size_t nbytes) {
    rsk_model model; /* filled up to the group of rows that was refused */
    rsk_open(output, nbytes, NULL, &model);
    for (uint32_t i = 0; i < rsk_u32(output + 12); i++) {
        const uint8_t *entry = output + 32 + 24 * i;
        const uint32_t type = rsk_u32(entry), index = (type - ROW_GROUP) / 8;
        if (type < ROW_GROUP || type % 8 != 0 || index >= RSK_MAX_ROW_GROUPS || index >= model.n_row_groups ||
            model.row_groups[index].n_rows == 0) continue;
        put(output + rsk_u32(entry + 8) + 68, rsk_digest_find(&model, &model.row_groups[index], crc_table), 4);
    }
    repair_checksums(nbytes);
}

typedef void mutation(document *doc);
static mutation *const mutations[] = {
    change_field, change_field, change_field,   change_field,    change_field,   change_field,
    change_field, change_size,  change_size,    change_bytes,    change_bytes,   fill_bytes,
    resize,       drop_any,     change_numbers, duplicate,       swap,           splice,
    splice,       splice_group, change_table,   change_metadata, change_metadata, change_table,
    splice_stages,
};

size_t make_input(document doc) {
    rsk_crc_prepare(crc_table);
    for (uint32_t n = one_in(4) ? 1 : 1 + below(5); n > 0; n--)
        mutations[below(sizeof mutations / sizeof mutations[0])](&doc);
    if (doc.must_agree || !one_in(4)) agree(&doc);
    if (doc.must_agree || !one_in(4)) fit_all(&doc);
    size_t nbytes = assemble(&doc);
    if (one_in(8)) {
        for (uint32_t n = 1 + below(3); n > 0 && nbytes > 32; n--) nbytes = change_framing(nbytes);
        if (!one_in(4) && nbytes >= 32) repair_checksums(nbytes);
    }
    return nbytes;
}

bool take_apart(const uint8_t *bytes, size_t nbytes, document *doc) {
    doc->n_sections = nbytes < 32 ? 0 : rsk_u32(bytes + 12);
    doc->must_agree = false;
    if (doc->n_sections == 0 || doc->n_sections > 32 || 32 + 24 * (size_t)doc->n_sections > nbytes) return false;
    for (uint32_t i = 0; i < doc->n_sections; i++) {
        const uint8_t *entry = bytes + 32 + 24 * i;
        const uint32_t offset = rsk_u32(entry + 8), length = rsk_u32(entry + 12);
        if ((uint64_t)offset + length > nbytes) return false;
        const section s = {rsk_u32(entry), rsk_u32(entry + 4), length, bytes + offset};
        doc->sections[i] = s;
    }
    return true;
}
