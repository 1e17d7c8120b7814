/* Very many WebSocket clients in one thread, which come back when their worker dies.
 *
 *   sockets ADDRESS PORT COUNT SOURCES AT_ONCE < paths, an empty line, commands
 *
 * Reads paths from standard input, a line each, up to an empty line, and opens COUNT connections to ADDRESS:PORT, which
 * take the paths in turn; at most AT_ONCE are on their way. Their source addresses are 127.0.0.1 and the SOURCES - 1
 * after it, in turn: a source address has as many ports for one destination as net.ipv4.ip_local_port_range allows.
 * A client is here once it has a snapshot. One whose connection ends connects again, at once.
 *
 * Prints `here SECONDS` when all are here, and answers each command with a line:
 *   measure SECONDS   JSON of the frames, quotes and ages of that time; ages as in listeners.c
 *   lose              `here SECONDS LOST`, when LOST clients have lost their connection and all are back
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
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

enum { READ_SIZE = 1 << 20, AGES = 600000, AGE_EVERY = 16, EVENTS = 512, REST_MS = 20, LIFE_SECONDS = 900 };
enum State { AWAY, CONNECTING, ASKED, OPEN, HERE };

typedef struct {
    int fd;
    unsigned char state, fresh; /* `fresh`: no frame yet since the measurement began */
    unsigned partial_size;
    char *partial; /* the beginning of an incomplete frame */
} Client;

static struct {
    uint64_t frames, bytes, quotes, heartbeats, served;
} total;

static Client *clients;
static char **paths;
static int *away; /* a ring of the clients that have no connection */
static int count, paths_count, sources, away_first, away_count, on_their_way, here, lost, epoll, measuring;
static struct sockaddr_in address;
static uint32_t ages[AGES]; /* in tenths of a millisecond */
static uint64_t ages_count;
static double lost_at, rests_until;

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

static void note_frame(Client *client, const char *payload, size_t size) {
    if (client->state == OPEN && memmem(payload, size < 300 ? size : 300, "\"type\":\"snapshot\"", 17)) {
        client->state = HERE;
        here++;
        on_their_way--;
    }
    if (!measuring) return;
    total.frames++;
    total.bytes += size;
    if (size > 20 && !memcmp(payload, "{\"type\":\"heartbeat\"", 19)) total.heartbeats++;
    total.served += client->fresh;
    client->fresh = 0;
    const char *end = payload + size, *at = payload;
    for (uint64_t number = 0; (at = memmem(at, (size_t)(end - at), "\"price\":", 8)); at += 8, number++) {
        total.quotes++;
        if (number % AGE_EVERY) continue;
        const char *stamp = memmem(at, (size_t)(end - at), "\"timestamp\":\"", 13);
        if (stamp) note_age(stamp + 13, (size_t)(end - stamp - 13));
    }
}

static void lose(Client *client) {
    close(client->fd);
    client->fd = -1;
    client->partial_size = 0;
    if (client->state == HERE) {
        here--;
        if (!lost++) lost_at = seconds(CLOCK_MONOTONIC);
    } else {
        on_their_way--;
        rests_until = seconds(CLOCK_MONOTONIC) + REST_MS / 1000.0; /* the server is not there, or full */
    }
    client->state = AWAY;
    away[(away_first + away_count++) % count] = (int)(client - clients);
}

/* Returns the bytes of the complete frames in `data`. The server sends each message in one frame. */
static size_t take_frames(Client *client, const char *data, size_t size) {
    size_t used = 0;
    while (size - used >= 2) {
        const unsigned char *head = (const unsigned char *)data + used;
        size_t length = head[1] & 0x7F, start = 2;
        if (length == 126) start = 4;
        if (length == 127) start = 10;
        if (size - used < start) break;
        if (start > 2) {
            length = 0;
            for (size_t i = 2; i < start; i++) length = length << 8 | head[i];
        }
        if (size - used < start + length) break;
        if ((head[0] & 0x0F) == 8) {
            lose(client);
            return size;
        }
        if ((head[0] & 0x0F) <= 2) note_frame(client, data + used + start, length);
        used += start + length;
    }
    return used;
}

static size_t take(Client *client, const char *data, size_t size) {
    if (client->state != ASKED) return take_frames(client, data, size);
    const char *end = memmem(data, size, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(data, "HTTP/1.1 101", 12)) {
        fprintf(stderr, "refused: %.*s\n", (int)(end - data), data);
        exit(3);
    }
    client->state = OPEN;
    size_t head = (size_t)(end - data) + 4;
    return head + take_frames(client, data + head, size - head);
}

static void receive(Client *client) {
    static char buffer[READ_SIZE * 2];
    size_t partial = client->partial_size;
    if (partial > READ_SIZE) fail("a frame of more than a megabyte");
    memcpy(buffer, client->partial, partial);
    ssize_t got = read(client->fd, buffer + partial, READ_SIZE);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
        lose(client);
        return;
    }
    size_t size = partial + (size_t)got, used = take(client, buffer, size);
    client->partial_size = (unsigned)(size - used);
    free(client->partial);
    client->partial = NULL;
    if (size > used) {
        if (!(client->partial = malloc(size - used))) fail("malloc");
        memcpy(client->partial, buffer + used, size - used);
    }
}

static void ask(Client *client) {
    int code = 0;
    socklen_t size = sizeof code;
    if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &code, &size) < 0 || code) {
        lose(client);
        return;
    }
    client->state = ASKED;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(epoll, EPOLL_CTL_MOD, client->fd, &event) < 0) fail("epoll_ctl");
    dprintf(client->fd,
            "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
            paths[(client - clients) % paths_count]);
}

static void dial(Client *client) {
    int on = 1, number = (int)(client - clients);
    struct sockaddr_in source = {.sin_family = AF_INET};
    source.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)(number % sources));
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (client->fd < 0) fail("socket");
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(client->fd, (struct sockaddr *)&source, sizeof source) < 0) fail("bind");
    client->state = CONNECTING;
    on_their_way++;
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = client};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, client->fd, &event) < 0) fail("epoll_ctl");
    if (connect(client->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) {
        if (errno == EADDRNOTAVAIL) fail("a source address has no free port: widen net.ipv4.ip_local_port_range");
        lose(client);
    }
}

static void step(int at_once, double end) {
    while (away_count && on_their_way < at_once && seconds(CLOCK_MONOTONIC) >= rests_until) {
        Client *next = &clients[away[away_first]];
        away_first = (away_first + 1) % count;
        away_count--;
        dial(next);
    }
    struct epoll_event events[EVENTS];
    double left = end - seconds(CLOCK_MONOTONIC);
    int wait = away_count ? REST_MS : left < 0 ? 0 : left > 1 ? 1000 : (int)(left * 1000) + 1;
    int got = epoll_wait(epoll, events, EVENTS, wait);
    for (int i = 0; i < got; i++) {
        Client *client = events[i].data.ptr;
        if (client->fd < 0) continue;
        if (client->state == CONNECTING) ask(client);
        else receive(client);
    }
}

static double percentile(double share) {
    uint64_t wanted = (uint64_t)((double)ages_count * share), seen = 0;
    for (int i = 0; i < AGES; i++)
        if ((seen += ages[i]) > wanted) return i / 10.0;
    return AGES / 10.0;
}

static void measure(int at_once, double length) {
    memset(&total, 0, sizeof total);
    memset(ages, 0, sizeof ages);
    ages_count = 0;
    for (int i = 0; i < count; i++) clients[i].fresh = 1;
    measuring = 1;
    double begun = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID);
    while (seconds(CLOCK_MONOTONIC) < begun + length) step(at_once, begun + length);
    measuring = 0;
    printf("{\"seconds\":%.3f,\"cpu_seconds\":%.3f,\"here\":%d,\"lost\":%d,\"served\":%lu,\"frames\":%lu,\"bytes\":%lu,"
           "\"heartbeats\":%lu,\"quotes\":%lu,\"age_p50\":%.1f,\"age_p99\":%.1f,\"age_max\":%.1f}\n",
           seconds(CLOCK_MONOTONIC) - begun, seconds(CLOCK_PROCESS_CPUTIME_ID) - used, here, lost, total.served,
           total.frames, total.bytes, total.heartbeats, total.quotes, percentile(0.5), percentile(0.99),
           percentile(0.999999));
}

static void read_paths(void) {
    char *line = NULL;
    size_t room = 0;
    for (ssize_t size; (size = getline(&line, &room, stdin)) > 1;) {
        line[strcspn(line, "\n")] = 0;
        paths = realloc(paths, sizeof *paths * (size_t)(paths_count + 1));
        if (!paths || !(paths[paths_count++] = strdup(line))) fail("malloc");
    }
}

int main(int argc, char **argv) {
    address.sin_family = AF_INET;
    if (argc != 6 || !inet_aton(argv[1], &address.sin_addr)) {
        fprintf(stderr, "usage: sockets ADDRESS PORT COUNT SOURCES AT_ONCE < paths, an empty line, commands\n");
        return 2;
    }
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    count = atoi(argv[3]);
    sources = atoi(argv[4]);
    int at_once = atoi(argv[5]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_paths();
    if (!paths_count || count < 1 || sources < 1) return 2;
    clients = calloc((size_t)count, sizeof *clients);
    away = calloc((size_t)count, sizeof *away);
    if (!clients || !away || (epoll = epoll_create1(0)) < 0) fail("start");
    for (away_count = 0; away_count < count; away_count++) {
        clients[away_count].fd = -1;
        away[away_count] = away_count;
    }
    alarm(LIFE_SECONDS);
    double begun = seconds(CLOCK_MONOTONIC);
    while (here < count) step(at_once, begun + 1e9);
    printf("here %.3f\n", seconds(CLOCK_MONOTONIC) - begun);
    char command[64];
    while (fgets(command, sizeof command, stdin)) {
        if (!strncmp(command, "measure ", 8)) measure(at_once, atof(command + 8));
        if (strncmp(command, "lose", 4)) continue;
        while (!lost || here < count) step(at_once, seconds(CLOCK_MONOTONIC) + 1);
        printf("here %.3f %d\n", seconds(CLOCK_MONOTONIC) - lost_at, lost);
        lost = 0;
    }
    return 0;
}
