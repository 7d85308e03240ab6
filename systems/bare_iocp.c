/* A bare IOCP loop: unbuffered overlapped 4 KiB random reads at QD 32, batched reaping; prints requests a second. */
#include <windows.h>
#include <stdio.h>
#include <stdint.h>
#define QD 32
int main(int argc, char **argv) {
    double seconds = argc > 2 ? atof(argv[2]) : 3;
    HANDLE f = CreateFileA(argv[1], GENERIC_READ, FILE_SHARE_READ|FILE_SHARE_WRITE, 0, OPEN_EXISTING, FILE_FLAG_OVERLAPPED|FILE_FLAG_NO_BUFFERING, 0);
    if (f == INVALID_HANDLE_VALUE) { printf("open %lu\n", GetLastError()); return 1; }
    LARGE_INTEGER size; GetFileSizeEx(f, &size);
    uint64_t blocks = size.QuadPart / 4096, x = 88172645463325252ull;
    HANDLE port = CreateIoCompletionPort(f, 0, 0, 1);
    BOOL skips = SetFileCompletionNotificationModes(f, 3);
    char *buffers = VirtualAlloc(0, QD * 4096, MEM_COMMIT|MEM_RESERVE, PAGE_READWRITE);
    static OVERLAPPED o[QD]; OVERLAPPED_ENTRY e[QD]; int ready[QD], n = QD; uint64_t done = 0, at_once = 0;
    for (int i = 0; i < QD; i++) ready[i] = i;
    LARGE_INTEGER hz, t0, t; QueryPerformanceFrequency(&hz); QueryPerformanceCounter(&t0);
    for (;;) {
        int m = 0;
        while (n > 0) {
            int s = ready[--n];
            x ^= x << 13; x ^= x >> 7; x ^= x << 17;
            uint64_t off = x % blocks * 4096;
            memset(&o[s], 0, sizeof o[s]); o[s].Offset = (DWORD)off; o[s].OffsetHigh = off >> 32;
            if (ReadFile(f, buffers + s * 4096, 4096, 0, &o[s])) { if (skips) { done++; at_once++; ready[n++] = s; if (++m >= QD) break; } }
            else if (GetLastError() != ERROR_IO_PENDING) { printf("read %lu\n", GetLastError()); return 1; }
        }
        ULONG got = 0;
        if (GetQueuedCompletionStatusEx(port, e, QD, &got, n > 0 ? 0 : INFINITE, FALSE)) {
            for (ULONG i = 0; i < got; i++) ready[n++] = (int)(e[i].lpOverlapped - o);
            done += got;
        }
        QueryPerformanceCounter(&t);
        if ((double)(t.QuadPart - t0.QuadPart) / hz.QuadPart >= seconds) break;
    }
    printf("%.0f requests a second, %.0f %% at once\n", done / ((double)(t.QuadPart - t0.QuadPart) / hz.QuadPart), 100.0 * at_once / (done ? done : 1));
    return 0;
}
