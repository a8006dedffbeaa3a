/* Hide AVX-512, VNNI and AMX from the programs that ask the processor what it can do; avx2_only.py compiles and loads it.
 *
 * Linux can make the CPUID instruction fault (arch_prctl ARCH_SET_CPUID, Intel since Ivy Bridge, AMD since Zen 4). The
 * handler executes it in the program's place and clears the bits. Threads and forked processes inherit the setting; a
 * new program loads this library again, because it is in LD_PRELOAD.
 *
 * With AVX2_ONLY_ILLEGAL the kernel is not asked: the handler answers UD2 instructions that avx2_only.py has put in the
 * place of CPUID.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012

static int (*libc_sigaction)(int, const struct sigaction *, struct sigaction *);

static int illegal; /* UD2 stands for CPUID */

static void allow_cpuid(long yes) {
    if (!illegal) syscall(SYS_arch_prctl, ARCH_SET_CPUID, yes);
}

static void masked_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]) {
    allow_cpuid(1);
    __asm__ volatile("cpuid" : "=a"(out[0]), "=b"(out[1]), "=c"(out[2]), "=d"(out[3]) : "a"(leaf), "c"(subleaf));
    allow_cpuid(0);
    if (leaf == 7 && subleaf == 0) {
        /* F, DQ, IFMA, PF, ER, CD, BW, VL */
        out[1] &= ~(1u << 16 | 1u << 17 | 1u << 21 | 1u << 26 | 1u << 27 | 1u << 28 | 1u << 30 | 1u << 31);
        /* VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ */
        out[2] &= ~(1u << 1 | 1u << 6 | 1u << 11 | 1u << 12 | 1u << 14);
        /* 4VNNIW, 4FMAPS, VP2INTERSECT, AMX-BF16, FP16, AMX-TILE, AMX-INT8 */
        out[3] &= ~(1u << 2 | 1u << 3 | 1u << 8 | 1u << 22 | 1u << 23 | 1u << 24 | 1u << 25);
    }
    if (leaf == 7 && subleaf == 1) {
        /* AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA */
        out[0] &= ~(1u << 4 | 1u << 5 | 1u << 21 | 1u << 23);
        /* AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16, AVX10 */
        out[3] &= ~(1u << 4 | 1u << 5 | 1u << 10 | 1u << 19);
    }
}

static void on_fault(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uint8_t *at = (const uint8_t *)registers[REG_RIP];
    if (at[0] != 0x0f || at[1] != (illegal ? 0x0b : 0xa2)) { /* a fault of the program's own */
        signal(number, SIG_DFL);
        return;
    }
    uint32_t out[4];
    masked_cpuid((uint32_t)registers[REG_RAX], (uint32_t)registers[REG_RCX], out);
    registers[REG_RAX] = out[0], registers[REG_RBX] = out[1], registers[REG_RCX] = out[2], registers[REG_RDX] = out[3];
    registers[REG_RIP] += 2;
}

/* /proc/cpuinfo is read from a file without the newer flags. */
static const char *replaced(const char *path) {
    const char *file = getenv("AVX2_ONLY_CPUINFO");
    return path != NULL && file != NULL && strcmp(path, "/proc/cpuinfo") == 0 ? file : path;
}

#define OPENS(name)                                                      \
    int name(const char *path, int flags, ...) {                         \
        static int (*libc)(const char *, int, ...);                      \
        if (libc == NULL) libc = dlsym(RTLD_NEXT, #name);                \
        va_list more;                                                    \
        va_start(more, flags);                                           \
        int mode = va_arg(more, int); /* of no meaning without O_CREAT */ \
        va_end(more);                                                    \
        return libc(replaced(path), flags, mode);                        \
    }
OPENS(open)
OPENS(open64)

#define FOPENS(name)                                         \
    FILE *name(const char *path, const char *mode) {         \
        static FILE *(*libc)(const char *, const char *);    \
        if (libc == NULL) libc = dlsym(RTLD_NEXT, #name);    \
        return libc(replaced(path), mode);                   \
    }
FOPENS(fopen)
FOPENS(fopen64)

/* Nobody else may take the signal. */
int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    return libc_sigaction(number, number == (illegal ? SIGILL : SIGSEGV) ? NULL : action, before);
}

__attribute__((constructor)) static void begin(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    libc_sigaction = dlsym(RTLD_NEXT, "sigaction");
    illegal = getenv("AVX2_ONLY_ILLEGAL") != NULL;
    libc_sigaction(illegal ? SIGILL : SIGSEGV, &action, NULL);
    if (!illegal && syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0) != 0) {
        static const char text[] = "This processor or kernel cannot make CPUID fault; nothing can be hidden.\n";
        (void)!write(2, text, sizeof text - 1);
        _exit(2);
    }
}
