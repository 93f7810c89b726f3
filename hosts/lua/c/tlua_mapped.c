/*
** The largest blocks of a heap, which are asked from the system.
**
** Problem: such blocks are the parts of large tables. A program that makes an array in each round, and drops
** it, gets new memory each time, and the system fills it with zeros first: a filter that makes images of a
** million points spent a quarter of its time there. The C library would keep the memory, but copies where the
** system could move pages.
**
** Design: blocks begin at multiples of 2 MiB, with the advice to use pages of that size. The first touch of a
** page of 4 KiB took 1.4 us on a virtual machine; in a page of 2 MiB it took 0.18 us for each 4 KiB. Where
** more than half of such a page is needed, all of it is mapped. A block that grows is moved: Linux moves
** pages without copying them.
**
** What is freed is kept, in pieces of whole pages of 2 MiB; pieces that meet become one. A new block is the
** start of the largest piece, so that the rest follows it. An array that grows to twice its size, again and
** again, takes of this rest, and nothing is moved or filled. A block that has grown elsewhere, as the
** collector freed the piece too late, is copied to where it can grow twice.
**
** Invariants: what is in use and what is kept are together never more than what was in use at one time. So
** keeping does not make the largest size of a process larger. 16 MiB are kept at most, and as much as is in
** use: the collector lets the heap grow to twice its size, and then frees as much as it keeps. No piece is
** empty, and no two pieces touch one another.
**
** Example: an array of 16 MiB is dropped, and another one begins with 2 MiB. It gets the first 2 MiB of what
** is kept, and 14 MiB stay. At 4, 8 and 16 MiB it stays where it is, and takes the next 2, 4 and 8 MiB.
*/

#define _GNU_SOURCE  /* for MAP_ANONYMOUS and mremap, on Linux and on macOS */
#define _DARWIN_C_SOURCE

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "tlua_mapped.h"

#include "lua.h"
#include "llimits.h"

#define GRAIN ((size_t)1 << 16)
#define MOST_IDLE ((size_t)16 << 20)

void *tlua_map_zeros (size_t bytes) {
  void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return start == MAP_FAILED ? NULL : start;
}

void tlua_unmap (void *start, size_t bytes) {
  munmap(start, bytes);
}

/*
** From the system itself, as the C library keeps what it gets back. What is asked for beyond that is given
** back at once.
*/
void *tlua_map_at (size_t alignment, size_t bytes) {
  char *start = (char *)tlua_map_zeros(bytes + alignment);
  if (start == NULL)
    return NULL;
  char *block = (char *)(((uintptr_t)start + alignment - 1) & ~(uintptr_t)(alignment - 1));
  char *end = start + bytes + alignment;
  if (block > start)
    munmap(start, (size_t)(block - start));
  if (block + bytes < end)
    munmap(block + bytes, (size_t)(end - block) - bytes);
  return block;
}

void tlua_take_huge_pages (void *start, size_t bytes) {
#if defined(MADV_HUGEPAGE)
  madvise(start, bytes, MADV_HUGEPAGE);
#else
  (void)start, (void)bytes;
#endif
}

/* The bytes that are mapped for a block; 0 if there is no such memory. */
static size_t bytes_for (size_t size) {
  size_t rest = size & (TLUA_HUGE_PAGE - 1);
  if (size > (size_t)PTRDIFF_MAX / 2)
    return 0;
  if (rest > TLUA_HUGE_PAGE / 2)
    return size - rest + TLUA_HUGE_PAGE;
  return (size + GRAIN - 1) & ~(GRAIN - 1);
}

/* Up to the next page of 2 MiB. */
static size_t whole_pages (size_t bytes) {
  return (bytes + TLUA_HUGE_PAGE - 1) & ~(TLUA_HUGE_PAGE - 1);
}

/* --- what is kept --- */

static void remove_piece (Mapped *mapped, int n) {
  mapped->kept_bytes -= mapped->kept[n].bytes;
  mapped->kept[n] = mapped->kept[--mapped->pieces];
}

static int largest_piece (const Mapped *mapped) {
  int largest = 0;
  for (int n = 1; n < mapped->pieces; n++) {
    if (mapped->kept[n].bytes > mapped->kept[largest].bytes)
      largest = n;
  }
  return largest;
}

/* The last pages of the largest piece go until no more than so much is left. */
static void keep_at_most (Mapped *mapped, size_t most) {
  while (mapped->kept_bytes > most) {
    MappedPiece *piece = &mapped->kept[largest_piece(mapped)];
    size_t less = whole_pages(mapped->kept_bytes - most);
    less = less < piece->bytes ? less : piece->bytes;
    piece->bytes -= less;
    mapped->kept_bytes -= less;
    munmap(piece->start + piece->bytes, less);
    if (piece->bytes == 0)
      remove_piece(mapped, (int)(piece - mapped->kept));
  }
}

void tlua_mapped_drop (Mapped *mapped) {
  keep_at_most(mapped, 0);
}

/* Of what begins at 'start' the whole pages are kept, and become one with the pieces before and after. */
static void keep (Mapped *mapped, char *start, size_t bytes) {
  size_t rest = bytes & (TLUA_HUGE_PAGE - 1);
  bytes -= rest;
  if (rest > 0)
    munmap(start + bytes, rest);
  for (int n = mapped->pieces - 1; n >= 0; n--) {
    MappedPiece piece = mapped->kept[n];
    if (piece.start + piece.bytes != start && start + bytes != piece.start)
      continue;
    start = piece.start < start ? piece.start : start;
    bytes += piece.bytes;
    remove_piece(mapped, n);
  }
  if (bytes == 0)
    return;
  if (mapped->pieces == TLUA_MOST_PIECES) {
    munmap(start, bytes);
    return;
  }
  mapped->kept[mapped->pieces++] = (MappedPiece){start, bytes};
  mapped->kept_bytes += bytes;
}

/* The first bytes of a piece are taken. What is left of their last page of 2 MiB is given back. */
static void *take (Mapped *mapped, int n, size_t bytes) {
  MappedPiece *piece = &mapped->kept[n];
  char *start = piece->start;
  size_t whole = whole_pages(bytes);
  lua_assert(whole <= piece->bytes);
  if (whole > bytes)
    munmap(start + bytes, whole - bytes);
  piece->start += whole;
  piece->bytes -= whole;
  mapped->kept_bytes -= whole;
  if (piece->bytes == 0)
    remove_piece(mapped, n);
  return start;
}

/* So much more is in use; of what is kept so much goes that the system has to give nothing for it. */
static void use (Mapped *mapped, size_t bytes) {
  mapped->in_use += bytes;
  if (mapped->most_in_use < mapped->in_use)
    mapped->most_in_use = mapped->in_use;
  keep_at_most(mapped, mapped->most_in_use - mapped->in_use);
}

/* --- blocks --- */

/* If the system has nothing more, it gets back what is kept. */
static void *reserve (Mapped *mapped, size_t bytes) {
  void *start = tlua_map_at(TLUA_HUGE_PAGE, bytes);
  if (start == NULL && mapped->pieces > 0) {
    tlua_mapped_drop(mapped);
    start = tlua_map_at(TLUA_HUGE_PAGE, bytes);
  }
  return start;
}

static void *map (Mapped *mapped, size_t bytes) {
  if (mapped->pieces > 0) {
    int n = largest_piece(mapped);
    if (mapped->kept[n].bytes >= whole_pages(bytes))
      return take(mapped, n, bytes);
  }
  void *start = reserve(mapped, bytes);
  if (start != NULL)
    tlua_take_huge_pages(start, bytes);
  return start;
}

void *tlua_mapped_new (Mapped *mapped, size_t size) {
  size_t bytes = bytes_for(size);
  void *start = bytes > 0 ? map(mapped, bytes) : NULL;
  if (start != NULL)
    use(mapped, bytes);
  return start;
}

void tlua_mapped_free (Mapped *mapped, void *block, size_t size) {
  size_t bytes = bytes_for(size);
#if defined(LUAI_ASSERT)
  memset(block, 0x99, bytes);  /* whoever looks at it still is to notice */
#endif
  mapped->in_use -= bytes;
  keep(mapped, (char *)block, bytes);
  keep_at_most(mapped, MOST_IDLE + mapped->in_use);
}

/*
** Linux moves the pages to a place that was reserved for them: nothing is copied, and nobody needs the memory
** twice. A block may be several mappings, as it has grown into what was kept, or has different advice. Then
** mremap finds a fault in it, also where it need not move, and the block is copied. If mremap fails for
** another reason, the place may be reserved still, or another thread may have mapped something there: it is
** left alone.
*/
static void *move (Mapped *mapped, void *block, size_t from, size_t to) {
#if defined(MREMAP_FIXED)
  if (mremap(block, from, to, 0) != MAP_FAILED)
    return block;
  void *place = errno != EFAULT ? reserve(mapped, to) : NULL;
  if (place != NULL && mremap(block, from, to, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED)
    return place;
#endif
  void *grown = map(mapped, to);
  if (grown != NULL) {
    memcpy(grown, block, from);
    munmap(block, from);
  }
  return grown;
}

/* The pages that follow the block, if they are kept; NULL if not. */
static void *grow_in_place (Mapped *mapped, void *block, size_t from, size_t to) {
  char *end = (char *)block + from;
  for (int n = 0; n < mapped->pieces; n++) {
    if (mapped->kept[n].start == end && mapped->kept[n].bytes >= whole_pages(to - from)) {
      take(mapped, n, to - from);
      return block;
    }
  }
  return NULL;
}

/*
** A piece in which the block can grow twice is worth a copy: with its pages moved there it would be two
** mappings, which mremap does not take. NULL if there is none.
*/
static void *copy_to_kept (Mapped *mapped, void *block, size_t from, size_t to) {
  int n = mapped->pieces > 0 ? largest_piece(mapped) : 0;
  if (mapped->pieces == 0 || mapped->kept[n].bytes < 2 * whole_pages(to))
    return NULL;
  void *grown = take(mapped, n, to);
  memcpy(grown, block, from);
  keep(mapped, (char *)block, from);
  return grown;
}

void *tlua_mapped_resize (Mapped *mapped, void *block, size_t old_size, size_t new_size) {
  size_t from = bytes_for(old_size), to = bytes_for(new_size);
  if (to == 0)
    return NULL;
  if (to > from) {
    void *grown = grow_in_place(mapped, block, from, to);
    if (grown == NULL)
      grown = copy_to_kept(mapped, block, from, to);
    if (grown == NULL)
      grown = move(mapped, block, from, to);
    if (grown != NULL)
      use(mapped, to - from);
    return grown;
  }
  if (to < from)
    munmap((char *)block + to, from - to);
  mapped->in_use -= from - to;
  keep_at_most(mapped, MOST_IDLE + mapped->in_use);
  return block;
}
