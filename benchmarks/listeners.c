/* Many WebSocket listeners in one thread, which measure the number and age of quotes.
 *
 *   listeners ADDRESS PORT COUNT WARM_SECONDS SECONDS [deflate] [rows] [sample] < paths
 *
 * `deflate` offers permessage-deflate (RFC 7692) as browsers do, and inflates every frame. `rows` asks for rows, and
 * counts them by `["`. `sample` looks into the frames of every 20th listener only, and counts all: for frames of
 * megabytes.
 *
 * Reads paths from standard input, a line each, and opens COUNT connections to ADDRESS:PORT, which take
 * the paths in turn. A header of the handshake may follow a path, after a tab. Prints `started` when all are open and WARM_SECONDS have passed, and one line of JSON after
 * SECONDS more. Counts quotes by `"price":`. The age of every 16th quote, and of the first in each frame, is the
 * present time less its `"timestamp":"..."`, in rows less its text of 24 characters that ends with Z.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

enum { INFLATED_SIZE = 16 << 20, LAST_SIZE = 4 << 20, LARGEST = 16 << 20, SAMPLE_EVERY = 20 };
enum { READ_SIZE = 1 << 20, AT_ONCE = 100, OPEN_SECONDS = 10, OPENED_PER_SECOND = 500, AGES = 600000, AGE_EVERY = 16 };

typedef struct {
    int fd;
    int open;
    int ignored; /* whether its frames are counted only */
    z_stream *context; /* of a server that keeps its window between frames, else NULL */
    const char *path;
    char *partial; /* the beginning of an incomplete frame */
    size_t partial_size, partial_room;
    uint64_t frames;
} Listener;

static struct {
    uint64_t frames, bytes, wire_bytes, quotes, largest, closed, deflated;
} total;

static uint32_t ages[AGES]; /* in tenths of a millisecond */
static uint64_t ages_count;
static int measuring, offers_deflate, takes_rows, samples;
static int epoll;

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void note_age(const char *stamp, size_t left) {
    static long known_day;
    static char known_date[11];
    if (left < 24) return;
    if (memcmp(stamp, known_date, 10)) {
        struct tm day = {0};
        memcpy(known_date, stamp, 10);
        if (!strptime(known_date, "%Y-%m-%d", &day)) return;
        known_day = (long)timegm(&day);
    }
    int hour = atoi(stamp + 11), minute = atoi(stamp + 14);
    double second = strtod(stamp + 17, NULL);
    double age = seconds(CLOCK_REALTIME) - ((double)known_day + hour * 3600 + minute * 60 + second);
    long slot = age < 0 ? 0 : (long)(age * 10000);
    ages[slot < AGES ? slot : AGES - 1]++;
    ages_count++;
}

static z_stream *new_inflater(void) {
    z_stream *stream = calloc(1, sizeof *stream);
    if (!stream || inflateInit2(stream, -MAX_WBITS) != Z_OK) fail("inflateInit2");
    return stream;
}

/* Inflates one message. Servers that share a compressed message send the same bytes to many: those are inflated once. */
static size_t inflated(Listener *listener, const char *payload, size_t size, const char **text) {
    static char output[INFLATED_SIZE], last[LAST_SIZE];
    static size_t last_size, output_size;
    static z_stream *shared;
    *text = output;
    if (!listener->context && size && size == last_size && !memcmp(payload, last, size)) return output_size;
    if (!shared) shared = new_inflater();
    z_stream *stream = listener->context ? listener->context : shared;
    if (!listener->context) inflateReset(stream);
    stream->next_out = (Bytef *)output;
    stream->avail_out = INFLATED_SIZE;
    static const unsigned char tail[4] = {0, 0, 0xFF, 0xFF};
    const Bytef *parts[2] = {(const Bytef *)payload, tail};
    const size_t sizes[2] = {size, sizeof tail};
    for (int i = 0; i < 2; i++) {
        stream->next_in = (Bytef *)parts[i];
        stream->avail_in = (uInt)sizes[i];
        int code = inflate(stream, Z_SYNC_FLUSH);
        if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END) {
            fprintf(stderr, "a frame does not inflate: %d\n", code);
            exit(1);
        }
    }
    output_size = INFLATED_SIZE - stream->avail_out;
    last_size = 0;
    if (!listener->context && size <= LAST_SIZE) {
        memcpy(last, payload, size);
        last_size = size;
    }
    return output_size;
}

/* Returns the first time after `at`, or NULL. In rows it has no name, but the form "2026-11-20T14:30:00.000Z". */
static const char *stamp_after(const char *at, const char *end) {
    if (!takes_rows) {
        const char *stamp = memmem(at, (size_t)(end - at), "\"timestamp\":\"", 13);
        return stamp ? stamp + 13 : NULL;
    }
    while ((at = memmem(at, (size_t)(end - at), "\"20", 3))) {
        if (end - at > 26 && at[5] == '-' && at[24] == 'Z') return at + 1;
        at += 3;
    }
    return NULL;
}

static void note_frame(Listener *listener, const char *payload, size_t size) {
    listener->frames++;
    if (!measuring) return;
    total.frames++;
    total.bytes += size;
    if (size > total.largest) total.largest = size;
    const char *end = payload + size, *at = payload, *mark = takes_rows ? "[\"" : "\"price\":";
    size_t length = strlen(mark);
    for (uint64_t number = 0; (at = memmem(at, (size_t)(end - at), mark, length)); at += length, number++) {
        total.quotes++;
        if (number % AGE_EVERY) continue;
        const char *stamp = stamp_after(at, end);
        if (stamp) note_age(stamp, (size_t)(end - stamp));
    }
}

static void shut(Listener *listener) {
    if (listener->fd < 0) return;
    close(listener->fd);
    listener->fd = -1;
    total.closed++;
}

static void pong(Listener *listener, const char *payload, size_t size) {
    unsigned char frame[6 + 125] = {0x8A, (unsigned char)(0x80 | size), 0, 0, 0, 0};
    memcpy(frame + 6, payload, size); /* the mask is zero */
    if (write(listener->fd, frame, 6 + size) < 0 && errno != EAGAIN) shut(listener);
}

typedef struct {
    int opcode, final, compressed;
    const char *payload;
    size_t length, end; /* `end` is the offset of what follows the frame */
} Frame;

/* Reads the header of the frame at `offset`; returns 0 while the frame is not whole. */
static int read_frame(const char *data, size_t size, size_t offset, Frame *frame) {
    if (size - offset < 2) return 0;
    const unsigned char *head = (const unsigned char *)data + offset;
    size_t length = head[1] & 0x7F, start = 2;
    if (length == 126) {
        if (size - offset < 4) return 0;
        length = (size_t)head[2] << 8 | head[3];
        start = 4;
    } else if (length == 127) {
        if (size - offset < 10) return 0;
        length = 0;
        for (int i = 2; i < 10; i++) length = length << 8 | head[i];
        start = 10;
    }
    if (size - offset < start + length) return 0;
    *frame = (Frame){head[0] & 0x0F, head[0] >> 7, head[0] >> 6 & 1, data + offset + start, length, offset + start + length};
    return 1;
}

static void note_message(Listener *listener, const char *payload, size_t size, int compressed) {
    if (listener->ignored) {
        listener->frames++;
        total.frames += (uint64_t)measuring;
        total.bytes += measuring ? size : 0;
        total.deflated += (uint64_t)(measuring && compressed);
        return;
    }
    if (compressed) {
        size = inflated(listener, payload, size, &payload);
        total.deflated += (uint64_t)measuring;
    }
    note_frame(listener, payload, size);
}

/* Returns the bytes of the complete messages in `data`; fragments wait for the last one. */
static size_t take_frames(Listener *listener, const char *data, size_t size) {
    static char joined[READ_SIZE * 2];
    size_t used = 0;
    Frame frame;
    while (read_frame(data, size, used, &frame)) {
        if (frame.opcode == 8) {
            shut(listener);
            return size;
        }
        if (frame.opcode == 9 && frame.length <= 125) pong(listener, frame.payload, frame.length);
        if (frame.opcode <= 2 && frame.final) note_message(listener, frame.payload, frame.length, frame.compressed);
        if (frame.opcode <= 2 && !frame.final) {
            int compressed = frame.compressed;
            size_t length = 0;
            do {
                memcpy(joined + length, frame.payload, frame.length);
                length += frame.length;
            } while (!frame.final && read_frame(data, size, frame.end, &frame));
            if (!frame.final) break;
            note_message(listener, joined, length, compressed);
        }
        used = frame.end;
    }
    return used;
}

static size_t take(Listener *listener, const char *data, size_t size) {
    if (listener->open) return take_frames(listener, data, size);
    const char *end = memmem(data, size, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(data, "HTTP/1.1 101", 12)) {
        fprintf(stderr, "refused: %.*s\n", (int)(end - data), data);
        exit(1);
    }
    const char *agreed = memmem(data, (size_t)(end - data), "permessage-deflate", 18);
    if (agreed && !memmem(agreed, (size_t)(end - agreed), "server_no_context_takeover", 26))
        listener->context = new_inflater();
    listener->open = 1;
    size_t head = (size_t)(end - data) + 4;
    return head + take_frames(listener, data + head, size - head);
}

static void keep(Listener *listener, const char *data, size_t size) {
    if (size > listener->partial_room) {
        listener->partial_room = size * 2;
        char *room = malloc(listener->partial_room);
        if (!room) fail("malloc");
        memcpy(room, data, size);
        free(listener->partial);
        listener->partial = room;
    } else {
        memmove(listener->partial, data, size);
    }
    listener->partial_size = size;
}

/* Reads the rest of a large frame behind its beginning, without another copy of that. */
static void receive_large(Listener *listener) {
    size_t partial = listener->partial_size;
    if (partial > LARGEST) fail("a frame of more than 16 megabytes");
    if (listener->partial_room < partial + READ_SIZE) {
        listener->partial_room = 2 * (partial + READ_SIZE);
        listener->partial = realloc(listener->partial, listener->partial_room);
        if (!listener->partial) fail("malloc");
    }
    ssize_t count = read(listener->fd, listener->partial + partial, READ_SIZE);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        shut(listener);
        return;
    }
    if (measuring) total.wire_bytes += (uint64_t)count;
    size_t size = partial + (size_t)count, used = take(listener, listener->partial, size);
    memmove(listener->partial, listener->partial + used, size - used);
    listener->partial_size = size - used;
}

static void receive(Listener *listener) {
    static char buffer[READ_SIZE * 2];
    /* Puts the incomplete frame before the new bytes, so that frames are whole. */
    size_t partial = listener->partial_size;
    if (partial > READ_SIZE / 16) {
        receive_large(listener);
        return;
    }
    memcpy(buffer, listener->partial, partial);
    ssize_t count = read(listener->fd, buffer + partial, READ_SIZE);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        shut(listener);
        return;
    }
    if (measuring) total.wire_bytes += (uint64_t)count;
    size_t size = partial + (size_t)count, used = take(listener, buffer, size);
    if (size > used) keep(listener, buffer + used, size - used);
    else listener->partial_size = 0;
}

static void dial(Listener *listener, struct sockaddr_in address) {
    listener->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (listener->fd < 0) fail("socket");
    int on = 1;
    setsockopt(listener->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(listener->fd, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
    fcntl(listener->fd, F_SETFL, O_NONBLOCK);
    int length = (int)strcspn(listener->path, "\t");
    const char *header = listener->path[length] ? listener->path + length + 1 : "";
    dprintf(listener->fd,
            "GET %.*s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n%s%s%s%s\r\n",
            length, listener->path, header, *header ? "\r\n" : "", takes_rows ? "Sec-WebSocket-Protocol: quotecast.v1.rows\r\n" : "",
            offers_deflate ? "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n" : "");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = listener};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, listener->fd, &event) < 0) fail("epoll_ctl");
}

static void wait_and_receive(int milliseconds) {
    struct epoll_event events[512];
    int count = epoll_wait(epoll, events, 512, milliseconds);
    for (int i = 0; i < count; i++) {
        Listener *listener = events[i].data.ptr;
        if (listener->fd >= 0) receive(listener);
    }
}

/* An overloaded server accepts no connections: then there is nothing to measure. */
static void wait_for(const Listener *listener, double deadline) {
    while (!listener->open && listener->fd >= 0) {
        if (seconds(CLOCK_MONOTONIC) > deadline) {
            fprintf(stderr, "not all were let in\n");
            exit(3);
        }
        wait_and_receive(100);
    }
}

static void listen_until(double end) {
    for (double left; (left = end - seconds(CLOCK_MONOTONIC)) > 0;) wait_and_receive((int)(left * 1000) + 1);
}

static double percentile(double share) {
    uint64_t wanted = (uint64_t)((double)ages_count * share), seen = 0;
    for (int i = 0; i < AGES; i++)
        if ((seen += ages[i]) > wanted) return i / 10.0;
    return AGES / 10.0;
}

static char **read_paths(int *count) {
    char **paths = NULL, *line = NULL;
    size_t room = 0;
    for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
        line[strcspn(line, "\n")] = 0;
        paths = realloc(paths, sizeof *paths * (size_t)(*count + 1));
        if (!paths || !(paths[(*count)++] = strdup(line))) fail("malloc");
    }
    return paths;
}

int main(int argc, char **argv) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    int known = argc > 5 && inet_aton(argv[1], &address.sin_addr);
    for (int i = 6; i < argc; i++) {
        if (!strcmp(argv[i], "deflate")) offers_deflate = 1;
        else if (!strcmp(argv[i], "rows")) takes_rows = 1;
        else if (!strcmp(argv[i], "sample")) samples = 1;
        else known = 0;
    }
    if (!known) {
        fprintf(stderr, "usage: listeners ADDRESS PORT COUNT WARM_SECONDS SECONDS [deflate] [rows] [sample] < paths\n");
        return 2;
    }
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    int count = atoi(argv[3]), paths_count = 0;
    char **paths = read_paths(&paths_count);
    if (!paths_count || count < 1) return 2;
    Listener *listeners = calloc((size_t)count, sizeof *listeners);
    if (!listeners || (epoll = epoll_create1(0)) < 0) fail("start");
    double deadline = seconds(CLOCK_MONOTONIC) + OPEN_SECONDS + (double)count / OPENED_PER_SECOND;
    for (int i = 0; i < count; i++) {
        listeners[i].path = paths[i % paths_count];
        listeners[i].ignored = samples && i % SAMPLE_EVERY;
        dial(&listeners[i], address);
        if (i >= AT_ONCE) wait_for(&listeners[i - AT_ONCE], deadline);
    }
    for (int i = 0; i < count; i++) wait_for(&listeners[i], deadline);
    listen_until(seconds(CLOCK_MONOTONIC) + atof(argv[4]));
    for (int i = 0; i < count; i++) listeners[i].frames = 0;
    puts("started");
    fflush(stdout);
    double begun = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    measuring = 1;
    listen_until(begun + atof(argv[5]));
    double took = seconds(CLOCK_MONOTONIC) - begun;
    used = seconds(CLOCK_PROCESS_CPUTIME_ID) - used;
    uint64_t served = 0;
    for (int i = 0; i < count; i++) served += listeners[i].frames > 0;
    printf("{\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"listeners\":%d,\"served\":%lu,\"closed\":%lu,\"frames\":%lu,"
           "\"bytes\":%lu,\"wire_bytes\":%lu,\"deflated\":%lu,\"largest\":%lu,\"quotes\":%lu,\"age_p50\":%.1f,\"age_p99\":%.1f,\"age_max\":%.1f}\n",
           took, used, count, served, total.closed, total.frames, total.bytes, total.wire_bytes,
           total.deflated, total.largest, total.quotes,
           percentile(0.5), percentile(0.99), percentile(0.999999));
    return 0;
}
