/* assembler.c: independent of the reader, its own checksum included. */
#include "assembler.h"

#include <stdlib.h>
#include <string.h>

void put(uint8_t *to, uint32_t number, uint32_t n_bytes) {
    for (uint32_t i = 0; i < n_bytes; i++) to[i] = (uint8_t)(number >> (8 * i));
}

uint32_t get(const uint8_t *from) {
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

uint32_t crc32(const uint8_t *bytes, uint32_t n) {
    uint32_t crc = 0xFFFFFFFFu;
    for (uint32_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1u ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

uint8_t *add_section(file *f, uint32_t type, const void *bytes, uint32_t nbytes) {
    uint32_t i = f->n_sections++;
    for (; i > 0 && f->sections[i - 1].type > type; i--) f->sections[i] = f->sections[i - 1];
    f->sections[i].type = type;
    f->sections[i].nbytes = nbytes;
    memcpy(f->sections[i].bytes, bytes, nbytes);
    return f->sections[i].bytes;
}

uint8_t *section_bytes(file *f, uint32_t type) {
    uint32_t i = 0;
    while (f->sections[i].type != type) i++;
    return f->sections[i].bytes;
}

void repair_checksums(uint8_t *bytes) {
    for (uint32_t i = 0; i < get(bytes + 12); i++) {
        uint8_t *entry = bytes + 32 + 24 * i;
        put(entry + 16, crc32(bytes + get(entry + 8), get(entry + 12)), 4);
    }
    put(bytes + 20, 0, 4);
    put(bytes + 20, crc32(bytes, get(bytes + 8)), 4);
}

void assemble(file *f) {
    const uint32_t header = 32 + 24 * f->n_sections;
    uint32_t offset = header;
    memset(f->bytes, 0, sizeof f->bytes);
    memcpy(f->bytes, "\x89RSK", 4);
    put(f->bytes + 4, 1, 2);
    put(f->bytes + 8, header, 4);
    put(f->bytes + 12, f->n_sections, 4);
    for (uint32_t i = 0; i < f->n_sections; i++) {
        const section *s = &f->sections[i];
        uint8_t *entry = f->bytes + 32 + 24 * i;
        put(entry, s->type, 4);
        put(entry + 4, s->type < 64, 4);
        put(entry + 8, offset, 4);
        put(entry + 12, s->nbytes, 4);
        memcpy(f->bytes + offset, s->bytes, s->nbytes);
        offset = (offset + s->nbytes + 7) / 8 * 8;
    }
    f->nbytes = offset;
    put(f->bytes + 16, offset, 4);
    repair_checksums(f->bytes);
}

rsk_status open_bytes(const uint8_t *bytes, uint32_t nbytes) {
    rsk_model model;
    uint8_t *copy = malloc(nbytes + (nbytes == 0));
    if (copy == NULL) abort();
    memcpy(copy, bytes, nbytes);
    const rsk_status status = rsk_open(copy, nbytes, NULL, &model);
    free(copy);
    return status;
}

rsk_status open_file(file *f) {
    assemble(f);
    return open_bytes(f->bytes, f->nbytes);
}
