/*
** The heap of a Lua state.
**
** Problem: programs that make many objects spend a sixth of their time, and some two fifths of it, in the C
** library's malloc and free. It must find out how large a block is, and expects many threads. A Lua state
** runs in one thread at a time, and says with each block that it frees how large that is.
**
** Design: blocks of up to 512 bytes come from pages of 64 KiB. All blocks of a page are of one size, a
** multiple of 8; what was freed in a page is a list, and what was never used follows it. 64 pages make a
** chunk, which begins at a multiple of its size, so that a block's address leads to its page's record. The
** records stand side by side in the chunk's first page: at the start of each page they would all fall into
** the same few lines of the processor's caches. Pages with a free block wait in a list by size. A page in
** which nothing is left may serve another size, and whole chunks go back to the system. Larger blocks are
** the C library's. The same division is that of mimalloc; that sizes are told makes the rest of it
** unnecessary. Blocks of 1.5 MiB and more are asked from the system (tlua_mapped.c). As there, the system is
** advised to use large pages for the second half of the first chunk, and for all other chunks.
**
** A state that has just begun has few blocks of many sizes. Each size would touch a page of the system's of
** its own, which costs more than all that is done with the blocks. So the first blocks of all sizes lie side
** by side in one page, the first chunk's first: a size gets a short run of it at a time, up to 4 KiB, and
** keeps what is freed there in a record that is like a page's.
**
** Parts of tables have few sizes: so many items or nodes, a power of two. Of these, up to 32 KiB, what is
** freed is kept for the next one, within bounds. The C library would give it back to the system, as nothing
** else lies after it, and a program that makes and drops arrays in turn would spend half its time in page
** faults.
**
** Invariant: a page is in its size's list if and only if it has a free block; its blocks in use and those
** that are free are all that it has. The same is true of a size's record in the shared page. The heap ends
** with the state's main block, which is the first one made and the last one freed. No part of a table has the
** size of a table: so the two are told apart.
**
** Example: a table takes 56 bytes, so that a page holds 1170 of them, one after the other.
*/

#define LUA_CORE
#include "lprefix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tlua_heap.h"
#include "tlua_mapped.h"
#include "tlua_version.h"

#include "lauxlib.h"
#include "llimits.h"
#include "lobject.h"

#define PAGE_BITS 16
#define PAGE_BYTES ((size_t)1 << PAGE_BITS)
#define CHUNK_PAGES 64
#define CHUNK_BYTES (CHUNK_PAGES * PAGE_BYTES)
#define LARGEST TLUA_SMALL_BLOCK
#define HUGE_FROM (TLUA_HUGE_PAGE / 4 * 3)
#define STEP 8
#define LINE 64
/* Room before a page's first block: less than so many steps. No two pages of a chunk have the same. */
#define MARGINS 128
#define MARGIN_STRIDE 47
#define SIZES (LARGEST / STEP + 1)

_Static_assert(!TLUA_HAS_WHOLE_TABLES
               || (sizeof(Table) % sizeof(TValue) != 0 && sizeof(Table) % sizeof(Node) != 0),
               "a part of a table could be taken for a table");

/* Of the shared page: what a size gets of it at a time, if that is a block, and at most. */
#define RUN_BYTES 256
#define MOST_SHARED ((size_t)4096)

typedef struct Free {
  struct Free *next;
} Free;

/* What the blocks of a page are. */
enum { PLAIN, WHOLE /* tables together with their parts */, SHARED /* of many sizes */ };

typedef struct Page {
  struct Page *next, *previous;  /* in the list of its size, or of idle pages */
  Free *freed;
  char *fresh;           /* the first block that was never used */
  char *end;
  uint32_t used;         /* blocks in use */
  uint16_t size;         /* of a block */
  uint8_t is_listed;
  uint8_t kind;
} Page;

/* The start of its first page. */
typedef struct Chunk {
  Page pages[CHUNK_PAGES];
  struct Chunk *next, *previous;
  uint32_t idle;         /* pages */
} Chunk;

#define RECORDS_BYTES ((sizeof(Chunk) + LINE - 1) / LINE * LINE)

/* Sizes of larger blocks that are kept: 2^k and 2^k + 2^(k - 1) bytes. */
#define LEAST_KEPT_LOG 9
#define MOST_KEPT_LOG 15
#define KEPT_SIZES (2 * (MOST_KEPT_LOG - LEAST_KEPT_LOG + 1))
/* So many bytes of them, and half as much as is in use. */
#define MOST_KEPT ((size_t)1 << 19)

typedef struct Heap {
  Page *pages[2][SIZES]; /* those with a free block, by what their blocks are, and by size in steps */
  Page shared[SIZES];    /* what each size has of the shared page */
  char *shared_fresh, *shared_end;
  Free *kept[KEPT_SIZES];
  size_t kept_bytes, kept_in_use;
  Mapped mapped;
  Page *idle;
  uint32_t idle_pages;
  Chunk *chunks;
  void *main_block;
  int is_opening;        /* the state is being made: it may still be given up, main block and all */
} Heap;

/* --- lists --- */

static void take_out (Page **list, Page *page) {
  if (page->previous != NULL)
    page->previous->next = page->next;
  else
    *list = page->next;
  if (page->next != NULL)
    page->next->previous = page->previous;
}

static void put_first (Page **list, Page *page) {
  page->previous = NULL;
  page->next = *list;
  if (page->next != NULL)
    page->next->previous = page;
  *list = page;
}

/* After the first one, which is used until it is full: a page with one free block is soon full again. */
static void put_second (Page **list, Page *page) {
  Page *first = *list;
  if (first == NULL)
    put_first(list, page);
  else {
    page->previous = first;
    page->next = first->next;
    if (page->next != NULL)
      page->next->previous = page;
    first->next = page;
  }
}

/* --- pages --- */

static Chunk *chunk_of (const void *address) {
  return (Chunk *)((uintptr_t)address & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static Page *page_of (const void *block) {
  return &chunk_of(block)->pages[((uintptr_t)block & (CHUNK_BYTES - 1)) >> PAGE_BITS];
}

/* The shared page is never let go. */
static void share (Heap *heap, Chunk *chunk) {
  Page *page = &chunk->pages[0];
  page->kind = SHARED;
  take_out(&heap->idle, page);
  heap->idle_pages--;
  chunk->idle--;
  heap->shared_fresh = (char *)chunk + RECORDS_BYTES;
  heap->shared_end = (char *)chunk + PAGE_BYTES;
}

static int add_chunk (Heap *heap) {
  int is_first = heap->chunks == NULL;
  Chunk *chunk = (Chunk *)tlua_map_at(CHUNK_BYTES, CHUNK_BYTES);
  if (chunk == NULL)
    return 0;
  /* Pages are used in the order of their addresses, and a small program uses only some of the first chunk. */
  size_t small = is_first ? CHUNK_BYTES / 2 : 0;
  tlua_take_huge_pages((char *)chunk + small, CHUNK_BYTES - small);
  chunk->previous = NULL;
  chunk->next = heap->chunks;
  if (chunk->next != NULL)
    chunk->next->previous = chunk;
  heap->chunks = chunk;
  /* In the order of their addresses. */
  for (int n = CHUNK_PAGES - 1; n >= 0; n--)
    put_first(&heap->idle, &chunk->pages[n]);
  chunk->idle = CHUNK_PAGES;
  heap->idle_pages += CHUNK_PAGES;
  if (is_first)
    share(heap, chunk);
  return 1;
}

static void free_chunk (Heap *heap, Chunk *chunk) {
  for (int n = 0; n < CHUNK_PAGES; n++)
    take_out(&heap->idle, &chunk->pages[n]);
  heap->idle_pages -= CHUNK_PAGES;
  if (chunk->previous != NULL)
    chunk->previous->next = chunk->next;
  else
    heap->chunks = chunk->next;
  if (chunk->next != NULL)
    chunk->next->previous = chunk->previous;
  tlua_unmap(chunk, CHUNK_BYTES);
}

/* The list in which a page waits that has a free block. */
static Page **list_of (Heap *heap, const Page *page) {
  return &heap->pages[page->kind][page->size / STEP];
}

/*
** Where a page's first block is. It comes after a margin, which differs from page to page. Otherwise blocks
** of all pages would have the same low bits, and the low bits of its address choose a loop's counter. Where
** each block is whole lines of the cache the margin is whole lines, too; then two pages may have the same.
*/
static char *first_block (Chunk *chunk, size_t number, uint32_t size) {
  size_t margin = number * MARGIN_STRIDE % MARGINS * STEP;
  if (size % LINE == 0)
    margin -= margin % LINE;
  return (char *)chunk + number * PAGE_BYTES + (number > 0 ? 0 : RECORDS_BYTES) + margin;
}

/*
** A run of the shared page for a size without a free block, all of whose blocks there are in use, then.
** Returns the size's record, or NULL if it has its share.
*/
static Page *next_run (Heap *heap, uint32_t size) {
  Page *page = &heap->shared[size / STEP];
  size_t bytes = size > RUN_BYTES ? size : RUN_BYTES / size * size;
  size_t mask = size % LINE == 0 ? LINE - 1 : 0;
  char *start = (char *)(((uintptr_t)heap->shared_fresh + mask) & ~(uintptr_t)mask);
  if (page->used * (size_t)size + bytes > MOST_SHARED || start + bytes > heap->shared_end)
    return NULL;
  page->fresh = start;
  page->end = heap->shared_fresh = start + bytes;
  page->size = (uint16_t)size;
  page->is_listed = 1;
  put_first(list_of(heap, page), page);
  return page;
}

static Page *page_for (Heap *heap, uint32_t size, int is_whole) {
  if (heap->chunks == NULL && !add_chunk(heap))
    return NULL;
  Page *run = is_whole ? NULL : next_run(heap, size);
  if (run != NULL)
    return run;
  if (heap->idle == NULL && !add_chunk(heap))
    return NULL;
  Page *page = heap->idle;
  take_out(&heap->idle, page);
  heap->idle_pages--;
  Chunk *chunk = chunk_of(page);
  size_t number = (size_t)(page - chunk->pages);
  chunk->idle--;
  page->freed = NULL;
  page->used = 0;
  page->size = (uint16_t)size;
  page->kind = is_whole ? WHOLE : PLAIN;
  page->is_listed = 1;
  page->fresh = first_block(chunk, number, size);
  page->end = (char *)chunk + (number + 1) * PAGE_BYTES;
  put_first(list_of(heap, page), page);
  return page;
}

static int is_full (const Page *page) {
  return page->freed == NULL && page->end - page->fresh < page->size;
}

/*
** The page is empty. The last one of its size stays, or one block in turn would move it to and fro; so does
** what a size has of the shared page.
*/
static void let_go (Heap *heap, Page *page) {
  Page **list = list_of(heap, page);
  if (page == &heap->shared[page->size / STEP] || (*list == page && page->next == NULL))
    return;
  take_out(list, page);
  put_first(&heap->idle, page);
  heap->idle_pages++;
  Chunk *chunk = chunk_of(page);
  if (++chunk->idle == CHUNK_PAGES && heap->idle_pages >= 2 * CHUNK_PAGES)
    free_chunk(heap, chunk);
}

/* --- blocks --- */

static uint32_t rounded (size_t size) {
  return (uint32_t)((size + STEP - 1) / STEP * STEP);
}

static inline void *take_block (Heap *heap, uint32_t size, int is_whole) {
  Page *page = heap->pages[is_whole][size / STEP];
  if (l_unlikely(page == NULL)) {
    page = page_for(heap, size, is_whole);
    if (page == NULL)
      return NULL;
  }
  void *block = page->freed;
  if (block != NULL)
    page->freed = page->freed->next;
  else {
    block = page->fresh;
    page->fresh += size;
  }
  page->used++;
  if (l_unlikely(is_full(page))) {
    take_out(&heap->pages[is_whole][size / STEP], page);
    page->is_listed = 0;
  }
  return block;
}

static void *small_block (Heap *heap, uint32_t size) {
  return take_block(heap, size, 0);
}

static void free_small_block (Heap *heap, void *block, uint32_t size) {
  Page *page = page_of(block);
  if (page->kind == SHARED)
    page = &heap->shared[size / STEP];
  else if (page->kind == WHOLE) {
    if (size != sizeof(Table))
      return;  /* a part: its place goes with the table */
    size = page->size;
  }
  lua_assert(page->size == size && page->used > 0);
#if defined(LUAI_ASSERT)
  memset(block, 0x99, size);  /* whoever looks at it still is to notice */
#endif
  ((Free *)block)->next = page->freed;
  page->freed = (Free *)block;
  page->used--;
  if (l_unlikely(!page->is_listed)) {
    page->is_listed = 1;
    put_second(list_of(heap, page), page);
  }
  if (l_unlikely(page->used == 0))
    let_go(heap, page);
}

/* --- larger blocks --- */

/* The number of such a size; -1 if it is none. */
static int kept_size (size_t size) {
  if (size <= LARGEST || size > (size_t)1 << MOST_KEPT_LOG)
    return -1;
  int log = 8 * (int)sizeof(unsigned) - 1 - __builtin_clz((unsigned)size);
  size_t rest = size - ((size_t)1 << log);
  if (rest != 0 && rest != (size_t)1 << (log - 1))
    return -1;
  return 2 * (log - LEAST_KEPT_LOG) + (rest != 0);
}

static void drop_kept (Heap *heap) {
  for (int n = 0; n < KEPT_SIZES; n++) {
    while (heap->kept[n] != NULL) {
      Free *block = heap->kept[n];
      heap->kept[n] = block->next;
      free(block);
    }
  }
  heap->kept_bytes = 0;
  tlua_mapped_drop(&heap->mapped);
}

static void *from_system (Heap *heap, size_t size) {
  return size >= HUGE_FROM ? tlua_mapped_new(&heap->mapped, size) : malloc(size);
}

static void to_system (Heap *heap, void *block, size_t size) {
  if (size >= HUGE_FROM)
    tlua_mapped_free(&heap->mapped, block, size);
  else
    free(block);
}

static void *large_block (Heap *heap, size_t size) {
  int n = kept_size(size);
  if (n >= 0) {
    heap->kept_in_use += size;
    Free *block = heap->kept[n];
    if (block != NULL) {
      heap->kept[n] = block->next;
      heap->kept_bytes -= size;
      return block;
    }
  }
  void *block = from_system(heap, size);
  if (l_unlikely(block == NULL)) {
    drop_kept(heap);
    block = from_system(heap, size);
    if (block == NULL && n >= 0)
      heap->kept_in_use -= size;
  }
  return block;
}

/* As fewer are in use, fewer are kept: then one of the same size goes, too. */
static void free_large_block (Heap *heap, void *block, size_t size) {
  int n = kept_size(size);
  if (n >= 0) {
    heap->kept_in_use -= size;
    size_t most = MOST_KEPT + heap->kept_in_use / 2;
    if (heap->kept_bytes + size <= most) {
#if defined(LUAI_ASSERT)
      memset(block, 0x99, size);
#endif
      ((Free *)block)->next = heap->kept[n];
      heap->kept[n] = (Free *)block;
      heap->kept_bytes += size;
      return;
    }
    Free *other = heap->kept[n];
    if (heap->kept_bytes > most && other != NULL) {
      heap->kept[n] = other->next;
      heap->kept_bytes -= size;
      free(other);
    }
  }
  to_system(heap, block, size);
}

/* The last block of the state is freed. */
static void end (Heap *heap) {
  drop_kept(heap);
  while (heap->chunks != NULL) {
    Chunk *chunk = heap->chunks;
    heap->chunks = chunk->next;
    tlua_unmap(chunk, CHUNK_BYTES);
  }
  free(heap);
}

void *tlua_take (void *heap, size_t size) {
  return small_block((Heap *)heap, rounded(size));
}

void *tlua_take_whole (void *heap, size_t size) {
  return take_block((Heap *)heap, rounded(size), 1);
}

size_t tlua_whole_size (const void *table) {
  const Page *page = page_of(table);
  return page->kind == WHOLE ? page->size : 0;
}

void tlua_give (void *heap, void *block, size_t size) {
  free_small_block((Heap *)heap, block, rounded(size));
}

static void *new_block (Heap *heap, size_t size) {
  if (size <= LARGEST)
    return small_block(heap, rounded(size));
  void *block = large_block(heap, size);
  if (l_unlikely(heap->main_block == NULL))
    heap->main_block = block;
  return block;
}

static void free_block (Heap *heap, void *block, size_t size) {
  if (size <= LARGEST)
    free_small_block(heap, block, rounded(size));
  else {
    int is_last = block == heap->main_block && !heap->is_opening;
    free_large_block(heap, block, size);
    if (l_unlikely(is_last))
      end(heap);
  }
}

/* As lua_Alloc wants it. Of a new block 'old_size' is no size, but a type. */
void *tlua_allocate (void *user, void *block, size_t old_size, size_t new_size) {
  Heap *heap = (Heap *)user;
  if (block == NULL)
    return new_size > 0 ? new_block(heap, new_size) : NULL;
  if (new_size == 0) {
    free_block(heap, block, old_size);
    return NULL;
  }
  if (old_size >= HUGE_FROM && new_size >= HUGE_FROM)
    return tlua_mapped_resize(&heap->mapped, block, old_size, new_size);
  size_t least = old_size < new_size ? old_size : new_size, most = old_size + new_size - least;
  if (least > LARGEST && most < HUGE_FROM && kept_size(old_size) < 0 && kept_size(new_size) < 0)
    return realloc(block, new_size);
  if (old_size <= LARGEST && new_size <= LARGEST && rounded(old_size) == rounded(new_size))
    return block;
  void *moved = new_block(heap, new_size);
  if (moved != NULL) {
    memcpy(moved, block, least);
    free_block(heap, block, old_size);
  }
  return moved;
}

/* --- states --- */

lua_State *tlua_newstate (void) {
  Heap *heap = (Heap *)calloc(1, sizeof(Heap));
  if (heap == NULL)
    return NULL;
  heap->is_opening = 1;
  lua_State *L = tlua_newstate_with(tlua_allocate, heap);
  heap->is_opening = 0;
  if (L == NULL)
    end(heap);
  return L;
}
