/* mutate.h: what the files of mutate share: random numbers, and a file as a list of sections. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_SECTIONS = 36, LARGEST_SECTION = 24576, LARGEST_FILE = 1 << 16, MOST_SEEDS = 256 };

typedef struct {
    uint32_t type, flags, nbytes;
    const uint8_t *bytes; /* of the seed, or own ones */
} section;

typedef struct {
    uint32_t n_sections;
    section sections[MOST_SECTIONS];
    bool must_agree; /* it has sizes that only make sense with all that follows from them */
} document;

/* Begins an input: the random numbers of this seed, and no section has own bytes any more. */
void begin(uint64_t seed);

uint64_t next_word(void);
uint32_t below(uint32_t n); /* 0 to n - 1 */
bool one_in(uint32_t n);
uint32_t interesting(void); /* a number on which a reader may stumble */
uint32_t interesting_float(void);

void put(uint8_t *to, uint32_t number, uint32_t n_bytes);
section *find(document *doc, uint32_t type); /* NULL if there is none */
void drop(document *doc, uint32_t index);
section *add(document *doc, section added); /* where its type belongs; NULL if there are too many */
uint8_t *own(section *s, uint32_t n); /* bytes of a section, to be changed: n, new ones repeating those there are, or 0 */

/* mutate_fields.c */
void change_field(document *doc);
void change_size(document *doc);
void agree(document *doc);   /* sizes follow from others */
void fit_all(document *doc); /* lengths of sections follow from sizes */

/* mutate.c */
extern document seeds[MOST_SEEDS]; /* good files, at least one; their bytes are the caller's */
extern uint32_t n_seeds;
extern uint8_t output[2 * LARGEST_FILE];                                  /* of one input */
bool take_apart(const uint8_t *bytes, size_t nbytes, document *doc);     /* false if that cannot be done */
size_t make_input(document doc);   /* a damaged version of it in `output`; its length */
void repair_digests(size_t nbytes); /* writes those that the hash functions of `output` really have */

#endif
