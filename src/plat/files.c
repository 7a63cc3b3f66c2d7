/* SPDX-License-Identifier: MIT */
/* Small files in whole and large ones line by line, on top of a stream of pieces. */
#include "base/check.h"
#include "plat/cpus.h"

#include <string.h>

typedef struct small_file {
    char *out;
    size_t room;
    size_t used;
} small_file;

static void keep_piece(void *arg, const char *bytes, size_t count)
{
    small_file *small = arg;
    FILCHI_ASSERT(count <= small->room - small->used);
    memcpy(small->out + small->used, bytes, count);
    small->used += count;
}

bool filchi_files_small(const filchi_files *files, const char *path, char *out, size_t bytes,
                        filchi_text *out_text)
{
    small_file small = { out, bytes, 0 };
    if (!files->stream(files, path, bytes, keep_piece, &small) || small.used == 0) {
        return false;
    }
    *out_text = (filchi_text){ out, small.used };
    return true;
}

typedef struct splitter {
    filchi_line *line;
    void *arg;
    size_t used;
    bool too_long;
    char bytes[FILCHI_LINE_BYTES];
} splitter;

static void end_line(splitter *split)
{
    if (!split->too_long && split->used != 0) {
        split->line(split->arg, (filchi_text){ split->bytes, split->used });
    }
    split->used = 0;
    split->too_long = false;
}

static void split_piece(void *arg, const char *bytes, size_t count)
{
    splitter *split = arg;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n') {
            end_line(split);
        } else if (split->used < sizeof(split->bytes)) {
            split->bytes[split->used++] = bytes[i];
        } else {
            split->too_long = true;
        }
    }
}

void filchi_files_lines(const filchi_files *files, const char *path, size_t most, filchi_line *line,
                        void *arg)
{
    splitter split;
    split.line = line;
    split.arg = arg;
    split.used = 0;
    split.too_long = false;
    if (files->stream(files, path, most, split_piece, &split)) {
        end_line(&split); /* a last line without newline; of a file that was cut it may be a part */
    }
}
