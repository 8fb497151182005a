/* test_file.c: rsk_open against files assembled by hand, byte by byte as docs/spec/format.md has it.
 *
 * cc -std=c99 -I.. test_file.c assembler.c ../rsk_file.c ../rsk_extras.c ../rsk_text.c ../rsk_bounds.c ../rsk_digest.c ../rsk_hash.c
 * Built with -fsanitize=address,undefined it proves that no byte outside the file is read: every file lies in a
 * block of memory of exactly its size.
 */
#include <stdio.h>
#include <string.h>

#include "assembler.h"
#include "rsk_hash.h"

static int n_failures = 0;

static void expect(rsk_status got, rsk_status wanted, const char *what) {
    if (got == wanted) return;
    printf("%s: status %d (%s), expected %d (%s)\n", what, got, rsk_status_text(got), wanted, rsk_status_text(wanted));
    n_failures++;
}

/* ---- two small models ---- */

static const uint8_t one[4] = {0, 0, 0x80, 0x3F}; /* 1.0f */

/* One column, one row of two buckets, one output; hash as given. */
static void start(file *f, uint8_t hash, uint8_t fold, uint32_t digest) {
    uint8_t model[64] = {0}, group[80] = {0}, counters[8] = {0};
    f->n_sections = 0;
    model[1] = model[3] = 1; /* generator, groups of rows */
    for (uint32_t field = 8; field <= 24; field += 4) put(model + field, 1, 4);
    group[0] = 1;
    group[1] = hash;
    group[3] = fold;
    for (uint32_t field = 28; field <= 60; field += 4) put(group + field, 1, 4);
    put(group + 36, 2, 4); /* buckets */
    put(group + 40, fold == 1 ? 2 : 0, 4);
    put(group + 48, 0, 4);
    put(group + 68, digest, 4);
    add_section(f, 1, model, sizeof model);
    add_section(f, 12, one, 4);
    add_section(f, 16, group, sizeof group);
    add_section(f, 20, counters, sizeof counters);
    add_section(f, 22, one, 4);
}

/* A pool of one threshold: nothing is drawn, so the digest is 0. */
static void start_threshold(file *f) {
    start(f, 18, 1, 0);
    section_bytes(f, 16)[12] = 4;
    add_section(f, 19, one, 4);
}

/* One MinHash code, with additive state. */
static void start_minhash(file *f) {
    uint8_t drawn[24], sums[16 + 8 * 2 + 24] = {0};
    for (uint32_t i = 0; i < 24; i += 12) { /* the first code is the last one too */
        put(drawn + i, rsk_word(0, RSK_STREAM_MINHASH, 0, 0, 0), 4);
        put(drawn + i + 4, rsk_word(0, RSK_STREAM_FOLD, 0, 0, 1), 4);
        put(drawn + i + 8, rsk_word(0, RSK_STREAM_FOLD, 0, 0, 0), 4);
    }
    start(f, 2, 0, crc32(drawn, 24));
    put(sums + 4, 0x3FE00000u, 4);  /* step 0.5 */
    sums[16] = 2;                   /* counter 1.0 */
    put(sums + 44, 0x3FF00000u, 4); /* scale and bias 1.0, not debiased: gain and offset 1.0 */
    put(sums + 52, 0x3FF00000u, 4);
    memcpy(section_bytes(f, 20), one, 4);
    add_section(f, 66, sums, sizeof sums);
}

/* ---- tests ---- */

static void test_status_text(void) {
    static const struct {
        int32_t number;
        const char *text;
    } known[] = {
#define RSK_STATUS(name, number, text) {number, text},
#include "rsk_status.def"
#undef RSK_STATUS
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *text = rsk_status_text((rsk_status)known[i].number);
        if (strcmp(text, known[i].text) != 0 || text[0] == '\0' || text[strlen(text) - 1] == '.' ||
            (i > 0 && known[i].number <= known[i - 1].number)) {
            printf("status %d: bad sentence or number\n", known[i].number);
            n_failures++;
        }
    }
    if (strcmp(rsk_status_text((rsk_status)77), "unknown status") != 0) {
        printf("status 77 should be unknown\n");
        n_failures++;
    }
}

static void test_prefixes_and_changes(file *f, const char *name) {
    expect(open_file(f), RSK_OK, name);
    for (uint32_t n = 0; n < f->nbytes; n++)
        if (open_bytes(f->bytes, n) == RSK_OK) expect(RSK_OK, RSK_TRUNCATED, "a prefix");
    for (uint32_t i = 0; i < f->nbytes; i++) {
        const uint8_t byte = f->bytes[i];
        for (uint32_t change = 1; change < 256; change++) {
            f->bytes[i] = (uint8_t)(byte ^ change);
            if (open_bytes(f->bytes, f->nbytes) == RSK_OK) expect(RSK_OK, RSK_SECTION_CRC, "a changed byte");
        }
        f->bytes[i] = byte;
    }
}

/* With right checksums a change may give a good file; here only the sanitizers judge. */
static void test_changes_with_good_checksums(file *f) {
    uint8_t bytes[4096];
    assemble(f);
    for (uint32_t i = 32 + 24 * f->n_sections; i < f->nbytes; i++)
        for (uint32_t change = 1; change < 256; change++) {
            memcpy(bytes, f->bytes, f->nbytes);
            bytes[i] = (uint8_t)(bytes[i] ^ change);
            repair_checksums(bytes);
            open_bytes(bytes, f->nbytes);
        }
}

static void test_framing(file *f) {
    uint8_t bytes[64] = {0};
    rsk_model model;
    expect(rsk_open(NULL, 0, NULL, &model), RSK_EMPTY, "no bytes");
    expect(open_bytes(bytes, 31), RSK_TOO_SHORT, "31 bytes");
    expect(open_bytes(bytes, 32), RSK_MAGIC, "zeros");
    expect(open_bytes((const uint8_t *)"KSR\x89............................", 32), RSK_SWAPPED, "reversed magic");
    expect(open_bytes((const uint8_t *)"PK\x03\x04............................", 32), RSK_MAGIC, "a zip archive");
    start_threshold(f);
    assemble(f);
    const rsk_limits below = {f->nbytes - 1, 0, 0}, exact = {f->nbytes, 0, 0};
    expect(rsk_open(f->bytes, f->nbytes, &below, &model), RSK_FILE_CAP, "over the cap");
    expect(rsk_open(f->bytes, f->nbytes, &exact, &model), RSK_OK, "at the cap");
    static const struct {
        uint32_t offset, n_bytes, number;
        rsk_status status;
    } headers[] = {
        {4, 2, 0, RSK_VERSION_ZERO},      {4, 2, 2, RSK_VERSION_FUTURE}, {6, 2, 1, RSK_FLAGS},
        {8, 4, 65537, RSK_HEADER_CAP},    {12, 4, 0, RSK_NO_SECTIONS},   {12, 4, 33, RSK_SECTION_CAP},
        {8, 4, 32, RSK_HEADER_LENGTH},    {16, 4, 0xFFFFFFFF, RSK_TRUNCATED}, {16, 4, 8, RSK_TRAILING},
        {20, 4, 0, RSK_HEADER_CRC},
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        assemble(f);
        put(f->bytes + headers[i].offset, headers[i].number, headers[i].n_bytes);
        expect(open_bytes(f->bytes, f->nbytes), headers[i].status, "header field");
    }
    static const struct {
        uint32_t entry, field, number;
        rsk_status status;
    } entries[] = {
        {1, 4, 2, RSK_FLAGS},
        {1, 20, 1, RSK_FLAGS},
        {1, 0, 1, RSK_SECTION_DUPLICATE},
        {1, 0, 0, RSK_SECTION_ORDER},
        {1, 8, 12, RSK_SECTION_ALIGNMENT},
        {1, 8, 16, RSK_SECTION_IN_HEADER},
        {1, 12, 0xFFFFFFFF, RSK_SECTION_BEYOND},
        {1, 12, 0, RSK_SECTION_EMPTY},
        {1, 8, 32 + 24 * 6, RSK_SECTION_OVERLAP},
        {1, 12, 12, RSK_SECTION_OVERLAP}, /* seen at the next section */
        {1, 8, 32 + 24 * 6 + 72, RSK_SECTION_HOLE},
        {1, 0, 13, RSK_SECTION_UNKNOWN},
        {0, 4, 0, RSK_FLAGS},
    };
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        assemble(f);
        put(f->bytes + 32 + 24 * entries[i].entry + entries[i].field, entries[i].number, 4);
        put(f->bytes + 20, 0, 4);
        put(f->bytes + 20, crc32(f->bytes, get(f->bytes + 8)), 4);
        expect(open_bytes(f->bytes, f->nbytes), entries[i].status, "field of a section's entry");
    }
}

static void test_contents(file *f) {
    static const struct {
        uint32_t section, offset, n_bytes, number;
        rsk_status status;
    } cases[] = {
        {1, 1, 1, 2, RSK_GENERATOR},     {1, 3, 1, 0, RSK_SIZE_ZERO},    {1, 3, 1, 5, RSK_SIZE_CAP},
        {1, 5, 1, 32, RSK_SHIFT},        {1, 8, 4, 0, RSK_SIZE_ZERO},    {1, 8, 4, 1048577, RSK_SIZE_CAP},
        {1, 30, 2, 16, RSK_FLAGS},       {1, 58, 1, 1, RSK_PADDING},     {1, 40, 4, 2, RSK_CLASS_COUNT},
        {1, 0, 1, 1, RSK_FIELD},         {1, 20, 4, 2, RSK_SIZE_MISMATCH}, {1, 44, 4, 2, RSK_SCALER},
        {1, 44, 4, 1, RSK_SECTION_MISSING}, {12, 2, 2, 0x7F80, RSK_NOT_FINITE}, {16, 1, 1, 4, RSK_HASH},
        {16, 4, 1, 4, RSK_COUNTER_TYPE}, {16, 11, 1, 1, RSK_PARAMETER_COUNT}, {16, 40, 4, 3, RSK_BUCKETS},
        {16, 1, 1, 2, RSK_FIELD},        {16, 68, 4, 1, RSK_DIGEST},     {20, 6, 2, 0x7FC0, RSK_NOT_FINITE},
        {22, 2, 2, 0, RSK_SCALE},        {22, 2, 2, 0xFF80, RSK_NOT_FINITE}, {16, 28, 4, 65537, RSK_SIZE_CAP},
        {16, 32, 4, 4097, RSK_SIZE_CAP}, {16, 36, 4, 1, RSK_SIZE_ZERO},  {16, 52, 4, 2, RSK_SIZE_MISMATCH},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char what[64];
        snprintf(what, sizeof what, "section %u, offset %u", (unsigned)cases[i].section, (unsigned)cases[i].offset);
        start_threshold(f);
        put(section_bytes(f, cases[i].section) + cases[i].offset, cases[i].number, cases[i].n_bytes);
        expect(open_file(f), cases[i].status, what);
    }
    start_threshold(f);
    add_section(f, 11, one, 4);
    expect(open_file(f), RSK_SECTION_UNEXPECTED, "a section that the model does not use");
    start_threshold(f);
    add_section(f, 99, one, 4);
    expect(open_file(f), RSK_OK, "an unknown optional section");
    start_minhash(f);
    section_bytes(f, 66)[16] = 3;
    expect(open_file(f), RSK_SUMS, "a sum that is not the counter");
    start_minhash(f);
    section_bytes(f, 66)[0] = 1;
    expect(open_file(f), RSK_SUMS, "a step that is no power of two");
    start_minhash(f);
    section_bytes(f, 66)[8] = 1; /* debias: the gain would be 2 */
    expect(open_file(f), RSK_SUMS, "another gain than the sums give");
}

static void test_labels(file *f) {
    /* kind, 0, order[2], ends[2], bytes */
    static const uint8_t text[] = {3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0,   0,
                                   0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'b', 'a', 'z'};
    static const struct {
        uint32_t offset;
        uint8_t byte;
        rsk_status status;
    } cases[] = {
        {0, 3, RSK_OK},
        {0, 4, RSK_FIELD},
        {4, 1, RSK_PADDING},
        {8, 2, RSK_INDEX_RANGE},
        {8, 0, RSK_CLASS_DUPLICATE},
        {25, 'b', RSK_INDEX_ORDER}, /* "bz" is the second, and listed as the first */
        {25, 'c', RSK_INDEX_ORDER},
        {16, 4, RSK_SIZE_MISMATCH},
        {20, 2, RSK_SIZE_MISMATCH},
        {24, 0, RSK_TEXT},
        {24, 0xFF, RSK_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_threshold(f);
        section_bytes(f, 1)[2] = 1;
        section_bytes(f, 1)[40] = 2;
        add_section(f, 64, text, sizeof text)[cases[i].offset] = cases[i].byte;
        expect(open_file(f), cases[i].status, "labels");
    }
    for (uint8_t kind = 0; kind < 3; kind++) {
        uint8_t labels[32] = {kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
        labels[kind == 2 ? 17 : 24] = 1; /* 0 and 1, or 0 and the smallest number */
        start_threshold(f);
        section_bytes(f, 1)[2] = 1;
        section_bytes(f, 1)[40] = 2;
        uint8_t *bytes = add_section(f, 64, labels, kind == 2 ? 18 : 32);
        expect(open_file(f), RSK_OK, "numbers as labels");
        bytes[8] = 1;
        bytes[12] = 0;
        expect(open_file(f), RSK_INDEX_ORDER, "numbers in falling order");
        bytes[8] = 0;
        expect(open_file(f), RSK_CLASS_DUPLICATE, "a number twice");
    }
}

static void test_intervals(file *f) {
    /* rows, levels and bins; a border; two scales; two quantiles */
    static const uint32_t table[] = {3, 2 | 2 << 16, 0x3F800000, 0x3F800000, 0x40000000, 0x3F800000, 0x40000000};
    static const struct {
        uint32_t word, bits;
        rsk_status status;
    } cases[] = {
        {0, 3, RSK_OK},
        {0, 1, RSK_SIZE_MISMATCH}, /* 55 % of one row */
        {1, 2 << 16, RSK_SIZE_ZERO},
        {1, 17 | 2 << 16, RSK_SIZE_CAP},
        {1, 2, RSK_SIZE_ZERO},
        {1, 2 | 257 << 16, RSK_SIZE_CAP},
        {1, 1 | 2 << 16, RSK_SIZE_MISMATCH},
        {2, 0x7F800000, RSK_NOT_FINITE},
        {2, 0xFF7FFFFF, RSK_OK},
        {3, 0, RSK_SCALE},
        {4, 0xBF800000, RSK_SCALE},
        {4, 0x7FC00000, RSK_SCALE},
        {5, 0x80000001, RSK_INDEX_ORDER},
        {5, 0x40000001, RSK_INDEX_ORDER},
        {5, 0x40000000, RSK_OK},
        {6, 0x7F800001, RSK_NOT_FINITE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t bytes[sizeof table];
        for (uint32_t word = 0; word < sizeof table / 4; word++) put(bytes + 4 * word, table[word], 4);
        put(bytes + 4 * cases[i].word, cases[i].bits, 4);
        start_threshold(f);
        add_section(f, 69, bytes, sizeof bytes);
        expect(open_file(f), cases[i].status, "intervals");
        section_bytes(f, 1)[2] = 1;
        expect(open_file(f), RSK_SECTION_UNEXPECTED, "intervals of a classifier");
    }
    for (uint32_t n = 1; n < sizeof table; n++) {
        start_threshold(f);
        add_section(f, 69, "\3\0\0\0\2\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", n);
        expect(open_file(f), RSK_SIZE_MISMATCH, "too few bytes of intervals");
    }
}

static void test_metadata(file *f) {
    static const struct {
        const char *text;
        rsk_status status;
    } cases[] = {
        {" {} ", RSK_OK},
        {"{\"a\": [1, -0.5e-9, true, false, null, \"\\u00e9\\n\", {\"b\": []}], \"\": \"\xC3\xA9\"}", RSK_OK},
        {"{\"a\": [[[]]]}", RSK_OK},
        {"{\"a\": [[[[]]]]}", RSK_META_DEPTH},
        {"[]", RSK_META_OBJECT},
        {" ", RSK_META_OBJECT},
        {"{", RSK_META_SYNTAX},
        {"{} {}", RSK_META_SYNTAX},
        {"{\"a\" 1}", RSK_META_SYNTAX},
        {"{\"a\": 1,}", RSK_META_SYNTAX},
        {"{\"a\": [1,]}", RSK_META_SYNTAX},
        {"{\"a\": [1}", RSK_META_SYNTAX},
        {"{\"a\": 01}", RSK_META_SYNTAX},
        {"{\"a\": 1.}", RSK_META_SYNTAX},
        {"{\"a\": -}", RSK_META_SYNTAX},
        {"{\"a\": \"\\x\"}", RSK_META_SYNTAX},
        {"{\"a\": \"\n\"}", RSK_META_SYNTAX},
        {"{\"a\": \"", RSK_META_SYNTAX},
        {"{\"\\u0061\": 1}", RSK_META_SYNTAX},
        {"{\"a\": 1, \"a\": 2}", RSK_META_DUPLICATE},
        {"{\"a\": {\"b\": 1}, \"b\": {\"b\": 1}}", RSK_OK},
        {"{\"a\": NaN}", RSK_META_NUMBER},
        {"{\"a\": -Infinity}", RSK_META_NUMBER},
        {"{\"a\": 1e400}", RSK_META_NUMBER},
        {"{\"a\": 1e308}", RSK_META_NUMBER},
        {"{\"a\": 9e307}", RSK_OK},
        {"{\"a\": 0.01e309}", RSK_OK},
        {"{\"a\": 0.01e310}", RSK_META_NUMBER},
        {"{\"a\": 100e306}", RSK_META_NUMBER},
        {"{\"a\": 0e99999999}", RSK_OK},
        {"{\"a\": 1e-999999999}", RSK_META_NUMBER},
        {"{\"a\": \"\xC3\"}", RSK_TEXT},
        {"{\"a\": \"\xED\xA0\x80\"}", RSK_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_threshold(f);
        add_section(f, 67, cases[i].text, (uint32_t)strlen(cases[i].text));
        expect(open_file(f), cases[i].status, cases[i].text);
    }
    static char text[MAX_NBYTES];
    for (uint32_t n = 1024; n <= 1025; n++) { /* bytes of a string */
        const uint32_t length = (uint32_t)snprintf(text, sizeof text, "{\"a\": \"%0*d\"}", (int)n, 0);
        start_threshold(f);
        add_section(f, 67, text, length);
        expect(open_file(f), n > 1024 ? RSK_STRING_CAP : RSK_OK, "a long string");
    }
    for (uint32_t n = 64; n <= 65; n++) { /* keys */
        uint32_t length = 0;
        for (uint32_t i = 0; i < n; i++)
            length += (uint32_t)snprintf(text + length, sizeof text - length, "%c\"%u\":1", i ? ',' : '{', (unsigned)i);
        text[length++] = '}';
        start_threshold(f);
        add_section(f, 67, text, length);
        expect(open_file(f), n > 64 ? RSK_META_CAP : RSK_OK, "many keys");
    }
    memset(text, ' ', 32769);
    memcpy(text, "{}", 2);
    for (uint32_t n = 32768; n <= 32769; n++) { /* bytes */
        start_threshold(f);
        add_section(f, 67, text, n);
        expect(open_file(f), n > 32768 ? RSK_META_CAP : RSK_OK, "much metadata");
    }
}

/* Limits that the caller sets: just enough, one too few, and none at all. */
static void test_totals(file *f) {
    rsk_model model;
    start_threshold(f);
    assemble(f);
    expect(rsk_open(f->bytes, f->nbytes, NULL, &model), RSK_OK, "the default limits");
    const rsk_totals totals = rsk_totals_find(&model);
    const rsk_limits exact = {0, totals.memory, totals.work}, none = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const rsk_limits memory = {0, totals.memory - 1, 0}, work = {0, 0, totals.work - 1};
    expect(rsk_open(f->bytes, f->nbytes, &exact, &model), RSK_OK, "at the limits");
    expect(rsk_open(f->bytes, f->nbytes, &none, &model), RSK_OK, "no limits");
    expect(rsk_open(f->bytes, f->nbytes, &memory, &model), RSK_MEMORY_CAP, "one byte more than accepted");
    expect(rsk_open(f->bytes, f->nbytes, &work, &model), RSK_WORK_CAP, "one operation more than accepted");
    start_minhash(f);
    put(section_bytes(f, 12), 0x7F7FFFFFu, 4); /* the offset */
    expect(open_file(f), RSK_MAGNITUDE, "the largest offset");
}

int main(void) {
    static file f;
    test_status_text();
    test_framing(&f);
    start_threshold(&f);
    test_prefixes_and_changes(&f, "a threshold pool");
    start_minhash(&f);
    test_prefixes_and_changes(&f, "a MinHash group of rows");
    test_changes_with_good_checksums(&f);
    start_threshold(&f);
    test_changes_with_good_checksums(&f);
    test_contents(&f);
    test_labels(&f);
    test_intervals(&f);
    test_metadata(&f);
    test_totals(&f);
    printf(n_failures == 0 ? "test_file: ok\n" : "test_file: %d failures\n", n_failures);
    return n_failures != 0;
}
