/*
** The largest blocks of a heap: see tlua_mapped.c.
**
** Example: Mapped mapped = {0}; void *block = tlua_mapped_new(&mapped, 4 << 20);
*/
#ifndef tlua_mapped_h
#define tlua_mapped_h

#include <stddef.h>

/* Such blocks begin at multiples of it, where a large page of the system's may begin. */
#define TLUA_HUGE_PAGE ((size_t)2 << 20)

/* What is kept in pieces at most. */
#define TLUA_MOST_PIECES 16

typedef struct MappedPiece {
  char *start;           /* a multiple of 2 MiB */
  size_t bytes;          /* too */
} MappedPiece;

typedef struct Mapped {
  MappedPiece kept[TLUA_MOST_PIECES];
  int pieces;
  size_t kept_bytes, in_use, most_in_use;
} Mapped;

/* A block; NULL if there is no such memory. */
void *tlua_mapped_new (Mapped *mapped, size_t size);
/* The block with another size, here or elsewhere, with what is in it; NULL as above, and the block stays. */
void *tlua_mapped_resize (Mapped *mapped, void *block, size_t old_size, size_t new_size);
void tlua_mapped_free (Mapped *mapped, void *block, size_t size);
/* Gives back what is kept. */
void tlua_mapped_drop (Mapped *mapped);

/* Memory of the system's at a multiple of the alignment, a power of two; NULL if there is none. */
void *tlua_map_at (size_t alignment, size_t bytes);
/* Zeros from the system itself, of which only what is touched becomes memory. NULL if there is none. */
void *tlua_map_zeros (size_t bytes);
void tlua_unmap (void *start, size_t bytes);
/* Advice to use pages of 2 MiB: what is filled takes few page faults instead of thousands. */
void tlua_take_huge_pages (void *start, size_t bytes);

#endif
