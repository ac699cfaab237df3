// Resolves mixed.example to RESOLVE_TO, IPv4 addresses with commas between them, and writes every
// address that the program dials to the file RESOLVE_LOG. Only those on this machine are reached.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  const char *list = getenv("RESOLVE_TO");
  if (!name || !list || strcmp(name, "mixed.example") != 0) {
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        dlsym(RTLD_NEXT, "getaddrinfo");
    return next(name, service, hints, found);
  }
  *found = NULL;
  struct addrinfo **end = found;
  char *copy = strdup(list), *rest = copy, *part;
  while ((part = strsep(&rest, ","))) {
    // In one piece, as freeaddrinfo expects.
    struct addrinfo *info = calloc(1, sizeof(struct addrinfo) + sizeof(struct sockaddr_in));
    struct sockaddr_in *address = (struct sockaddr_in *)(info + 1);
    address->sin_family = AF_INET;
    address->sin_port = htons(service ? atoi(service) : 0);
    inet_pton(AF_INET, part, &address->sin_addr);
    info->ai_family = AF_INET;
    info->ai_socktype = SOCK_STREAM;
    info->ai_protocol = IPPROTO_TCP;
    info->ai_addrlen = sizeof(struct sockaddr_in);
    info->ai_addr = (struct sockaddr *)address;
    *end = info;
    end = &info->ai_next;
  }
  free(copy);
  return 0;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
  const char *log = getenv("RESOLVE_LOG");
  if (log && address->sa_family == AF_INET) {
    const struct sockaddr_in *dialed = (const struct sockaddr_in *)address;
    char text[64], line[80];
    inet_ntop(AF_INET, &dialed->sin_addr, text, sizeof text);
    int count = snprintf(line, sizeof line, "%s:%d\n", text, ntohs(dialed->sin_port));
    int file = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0) {
      if (write(file, line, count) != count) abort();
      close(file);
    }
    if (strncmp(text, "127.", 4) != 0) {
      errno = ECONNREFUSED;
      return -1;
    }
  }
  return (int)syscall(SYS_connect, descriptor, address, length);
}
