// The floor of any job on JPEG files: libjpeg-turbo decodes them from memory, on threads, and does nothing else.
//
//     jpeg_floor THREADS LIST    prints seconds and CPU seconds of a pass over the files in LIST, after another to warm
//     up
//
// Settings are jpeglib.h's defaults (accurate IDCT, smooth upsampling), rows go to a buffer that stays in cache.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

typedef struct {
  unsigned char* bytes;
  size_t size;
} File;

static File* files;
static int file_count;
static atomic_int next_file;

static void* decode_files(void* unused) {
  struct jpeg_decompress_struct jpeg;
  struct jpeg_error_mgr errors;
  jpeg.err = jpeg_std_error(&errors);  // a bad file ends the program with a message
  jpeg_create_decompress(&jpeg);
  unsigned char* rows = NULL;
  size_t room = 0;
  for (int i; (i = atomic_fetch_add(&next_file, 1)) < file_count;) {
    jpeg_mem_src(&jpeg, files[i].bytes, files[i].size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * jpeg.output_components, needed = stride * jpeg.rec_outbuf_height;
    if (needed > room) rows = realloc(rows, room = needed);
    JSAMPROW pointers[16];
    for (int row = 0; row < jpeg.rec_outbuf_height; row++) pointers[row] = rows + row * stride;
    while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, pointers, jpeg.rec_outbuf_height);
    jpeg_finish_decompress(&jpeg);
  }
  jpeg_destroy_decompress(&jpeg);
  free(rows);
  return unused;
}

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

static void pass(int threads) {
  pthread_t handles[256];
  next_file = 0;
  for (int i = 0; i < threads; i++) pthread_create(&handles[i], NULL, decode_files, NULL);
  for (int i = 0; i < threads; i++) pthread_join(handles[i], NULL);
}

int main(int argc, char** argv) {
  int threads = argc == 3 ? atoi(argv[1]) : 0;
  FILE* list = threads > 0 && threads <= 256 ? fopen(argv[2], "r") : NULL;
  if (!list) return fprintf(stderr, "usage: jpeg_floor THREADS LIST\n"), 2;
  char name[4096];
  while (fgets(name, sizeof name, list)) {
    name[strcspn(name, "\n")] = 0;
    FILE* file = fopen(name, "rb");
    if (!file) return perror(name), 1;
    fseek(file, 0, SEEK_END);
    File loaded = {NULL, ftell(file)};
    rewind(file);
    loaded.bytes = malloc(loaded.size);
    if (fread(loaded.bytes, 1, loaded.size, file) != loaded.size) return perror(name), 1;
    fclose(file);
    files = realloc(files, (file_count + 1) * sizeof(File));
    files[file_count++] = loaded;
  }
  pass(threads);
  double start = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
  pass(threads);
  printf("%.6f %.6f\n", now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - cpu);
  return 0;
}
