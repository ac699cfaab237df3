// Lets a program run out of what the function SCARCE gives, at the SCARCE_AT-th call by the file
// whose name begins with SCARCE_CALLER.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_scarce(const char *function, const void *caller) {
  static int calls;
  const char *scarce = getenv("SCARCE"), *name = getenv("SCARCE_CALLER"), *at = getenv("SCARCE_AT");
  Dl_info file;
  if (!scarce || !name || !at || strcmp(scarce, function) || !dladdr(caller, &file)) return 0;
  const char *slash = strrchr(file.dli_fname, '/');
  if (strncmp(slash ? slash + 1 : file.dli_fname, name, strlen(name))) return 0;
  return __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == atoi(at);
}

int epoll_create1(int flags) {
  if (is_scarce("epoll_create1", __builtin_return_address(0))) {
    errno = EMFILE;
    return -1;
  }
  return syscall(SYS_epoll_create1, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *context) {
  if (is_scarce("pthread_create", __builtin_return_address(0))) return EAGAIN;
  int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
      dlsym(RTLD_NEXT, "pthread_create");
  return real(thread, attributes, run, context);
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
  if (is_scarce("getaddrinfo", __builtin_return_address(0))) return EAI_AGAIN;
  int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
      dlsym(RTLD_NEXT, "getaddrinfo");
  return real(host, service, hints, found);
}
