import Dispatch
import Glibc
import Synchronization

/// Gathers lines and writes them from a thread of its own.
final class LogWriter: Sendable {
  private struct State {
    var text = LogText()
    var spare: [UInt8] = []
    var dropped = 0
    var isClosed = false
  }

  private static let mostGathered = 16 << 20
  private static let pause = 100

  private let file: Int32
  private let state = Mutex(State())
  /// Held while writing, so that what was gathered first is written first.
  private let writing = Mutex(())
  private let wake = DispatchSemaphore(value: 0)
  private let thread = Mutex<WorkerThread?>(nil)

  init(_ file: Int32) {
    self.file = file
    let writer = self
    // The thread keeps this object until `close` ends it.
    thread.withLock { thread in
      thread = WorkerThread {
        while writer.wake.wait(timeout: .now() + .milliseconds(LogWriter.pause)) == .timedOut {
          writer.flush()
        }
      }
    }
  }

  /// Gathers one line.
  func add(_ record: LogRecord) {
    state.withLock { state in
      guard !state.isClosed, state.text.bytes.count < LogWriter.mostGathered else {
        state.dropped += 1
        return
      }
      state.text.add(record)
    }
  }

  /// Writes what is gathered.
  func flush() {
    writing.withLock { _ in
      let (bytes, dropped) = state.withLock { state in
        let taken = state.text.take(leaving: state.spare)
        state.spare = []
        defer { state.dropped = 0 }
        return (taken, state.dropped)
      }
      write(bytes)
      if dropped > 0 { write(Array("{\"dropped\":\(dropped)}\n".utf8)) }
      if bytes.capacity <= LogWriter.mostGathered / 8 { state.withLock { $0.spare = bytes } }
    }
  }

  /// Writes what is gathered and ends the thread.
  func close() {
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    guard let thread else { return }
    wake.signal()
    thread.join()
    state.withLock { $0.isClosed = true }
    flush()
  }

  /// Writes bytes to the end; what the system will not take is lost.
  private func write(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { bytes in
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        let part = unsafe UnsafeRawBufferPointer(rebasing: rest)
        let count = unsafe Glibc.write(file, part.baseAddress, part.count)
        if count > 0 {
          unsafe rest = rest.dropFirst(count)
        } else if count < 0, errno == EAGAIN {
          usleep(1000)
        } else if count < 0, errno == EINTR {
          continue
        } else {
          return
        }
      }
    }
  }
}
