/* assembler.h: files put together by hand from sections, byte by byte as docs/spec/format.md has it. */
#ifndef ASSEMBLER_H
#define ASSEMBLER_H

#include "rsk.h"

enum { MAX_NBYTES = 40000, MAX_SECTIONS = 16 };

typedef struct {
    uint32_t type, nbytes;
    uint8_t bytes[MAX_NBYTES];
} section;

typedef struct {
    uint32_t n_sections;
    section sections[MAX_SECTIONS]; /* in rising order of type */
    uint32_t nbytes;
    uint8_t bytes[2 * MAX_NBYTES];
} file;

void put(uint8_t *to, uint32_t number, uint32_t n_bytes);
uint32_t get(const uint8_t *from); /* 4 bytes */
uint32_t crc32(const uint8_t *bytes, uint32_t n);
uint8_t *add_section(file *f, uint32_t type, const void *bytes, uint32_t nbytes); /* where its type belongs; its bytes */
uint8_t *section_bytes(file *f, uint32_t type); /* to be changed before the file is assembled */
void repair_checksums(uint8_t *bytes);
void assemble(file *f);
rsk_status open_bytes(const uint8_t *bytes, uint32_t nbytes); /* from a block of memory of exactly this size */
rsk_status open_file(file *f);

#endif
