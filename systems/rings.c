/* A stand-in for the I/O rings of Windows 11, for Wine 8, which lacks them: the same functions with the same arguments
 * (ioringapi.h), each request made and waited for when it is submitted. It shows that the engine's calls fit each other
 * and nothing of how Windows does them. */
#include <stdlib.h>
#include <windows.h>

typedef struct { int kind; union { HANDLE handle; UINT32 index; } of; } HANDLE_REF;
typedef struct { int kind; union { void *address; struct { UINT32 index, offset; } at; } of; } BUFFER_REF;
typedef struct { int required, advisory; } CREATE_FLAGS;
typedef struct { int version; UINT32 submissions, completions; int features; } CAPABILITIES;
typedef struct { UINT_PTR data; HRESULT result; ULONG_PTR information; } ENTRY;
typedef struct { int op; HANDLE file; void *buffer; UINT32 length; UINT64 offset; UINT_PTR data; } ASKED;
typedef struct { UINT32 size, asked_count, first, count; ASKED *asked; ENTRY *entries; HANDLE event; } RING;

enum { READ_OP = 1, WRITE_OP = 5, FLUSH_OP = 6, MOST = 4096 };
#define FULL ((HRESULT)0x80460002)
#define EXPORT __declspec(dllexport) HRESULT WINAPI

EXPORT QueryIoRingCapabilities(CAPABILITIES *able)
{
    able->version = 300;
    able->submissions = able->completions = MOST;
    able->features = 1;
    return S_OK;
}

EXPORT CreateIoRing(int version, CREATE_FLAGS flags, UINT32 submissions, UINT32 completions, RING **made)
{
    RING *ring = calloc(1, sizeof *ring);
    if (version != 300 || flags.required || submissions > MOST || completions < submissions || !ring)
        return E_INVALIDARG;
    ring->size = completions;
    ring->asked = calloc(completions, sizeof *ring->asked);
    ring->entries = calloc(completions, sizeof *ring->entries);
    ring->event = CreateEventW(NULL, TRUE, FALSE, NULL);
    *made = ring;
    return S_OK;
}

EXPORT CloseIoRing(RING *ring)
{
    CloseHandle(ring->event);
    free(ring->asked);
    free(ring->entries);
    free(ring);
    return S_OK;
}

static HRESULT ask(RING *ring, int op, HANDLE_REF file, void *buffer, UINT32 length, UINT64 offset, UINT_PTR data)
{
    if (file.kind != 0)
        return E_INVALIDARG;
    if (ring->asked_count + ring->count == ring->size)
        return FULL;
    ring->asked[ring->asked_count++] = (ASKED){ op, file.of.handle, buffer, length, offset, data };
    return S_OK;
}

EXPORT BuildIoRingReadFile(RING *ring, HANDLE_REF file, BUFFER_REF buffer, UINT32 length, UINT64 offset, UINT_PTR data,
                           int flags)
{
    return buffer.kind || flags ? E_INVALIDARG : ask(ring, READ_OP, file, buffer.of.address, length, offset, data);
}

EXPORT BuildIoRingWriteFile(RING *ring, HANDLE_REF file, BUFFER_REF buffer, UINT32 length, UINT64 offset, int write_flags,
                            UINT_PTR data, int flags)
{
    return buffer.kind || flags || write_flags ? E_INVALIDARG
                                               : ask(ring, WRITE_OP, file, buffer.of.address, length, offset, data);
}

EXPORT BuildIoRingFlushFile(RING *ring, HANDLE_REF file, int mode, UINT_PTR data, int flags)
{
    return mode || flags ? E_INVALIDARG : ask(ring, FLUSH_OP, file, NULL, 0, 0, data);
}

static ENTRY make(RING *ring, const ASKED *asked)
{
    OVERLAPPED at = { 0 };
    DWORD moved = 0;
    BOOL done;
    at.Offset = (DWORD)asked->offset;
    at.OffsetHigh = (DWORD)(asked->offset >> 32);
    at.hEvent = ring->event;
    if (asked->op == FLUSH_OP)
        done = FlushFileBuffers(asked->file);
    else {
        done = asked->op == READ_OP ? ReadFile(asked->file, asked->buffer, asked->length, NULL, &at)
                                    : WriteFile(asked->file, asked->buffer, asked->length, NULL, &at);
        if (done || GetLastError() == ERROR_IO_PENDING)
            done = GetOverlappedResult(asked->file, &at, &moved, TRUE);
    }
    return (ENTRY){ asked->data, done ? S_OK : HRESULT_FROM_WIN32(GetLastError()), moved };
}

EXPORT SubmitIoRing(RING *ring, UINT32 wait_for, UINT32 milliseconds, UINT32 *submitted)
{
    *submitted = ring->asked_count;
    for (UINT32 number = 0; number < ring->asked_count; number++)
        ring->entries[(ring->first + ring->count++) % ring->size] = make(ring, &ring->asked[number]);
    ring->asked_count = 0;
    if (ring->count < wait_for) {
        Sleep(milliseconds);
        return (HRESULT)0x80460007;
    }
    return S_OK;
}

EXPORT PopIoRingCompletion(RING *ring, ENTRY *entry)
{
    if (ring->count == 0)
        return S_FALSE;
    *entry = ring->entries[ring->first];
    ring->first = (ring->first + 1) % ring->size;
    ring->count--;
    return S_OK;
}
