import Dispatch
import Glibc
import Synchronization

/// Buffers log lines and writes them on its own thread.
final class LogWriter: Sendable {
  private struct State {
    var text = LogText()
    var spare: [UInt8] = []
    /// Lines dropped since the last `dropped` line.
    var dropped = 0
    var droppedInAll = 0
    /// Whether the thread was woken to write the lines before its pause ends.
    var isDue = false
    var isEnding = false
    var isClosed = false

    mutating func drop(_ lines: Int) {
      dropped += lines
      droppedInAll += lines
    }
  }

  private struct Output {
    var file: Int32
    var isOwn: Bool
    /// Whether the last line was written only in part.
    var isTorn = false
  }

  private static let mostGathered = 16 << 20
  /// The size at which lines are written without waiting, which bounds the memory at high rates.
  private static let enough = 256 << 10
  private static let pause = 100

  private let state = Mutex(State())
  /// Locked while writing, so that lines are written in order.
  private let output: Mutex<Output>
  private let wake = DispatchSemaphore(value: 0)
  private let thread = Mutex<WorkerThread?>(nil)

  /// - Throws: `ServerError` when there are too many threads; a file of its own is then closed.
  init(_ file: Int32, isOwn: Bool) throws(ServerError) {
    output = Mutex(Output(file: file, isOwn: isOwn))
    let writer = self
    // The thread retains this object until `close` ends it.
    do throws(ServerError) {
      let started = try WorkerThread {
        while true {
          // For a line, then for enough lines.
          writer.wake.wait()
          _ = writer.wake.wait(timeout: .now() + .milliseconds(LogWriter.pause))
          if writer.state.withLock(\.isEnding) { return }
          writer.flush()
          // Tells soon how many were dropped, even if no other line follows.
          if writer.state.withLock({ $0.dropped > 0 }) { writer.wake.signal() }
        }
      }
      thread.withLock { $0 = started }
    } catch {
      if isOwn { Glibc.close(file) }
      throw error
    }
  }

  /// The number of lines dropped since the start.
  var droppedLines: Int { state.withLock(\.droppedInAll) }

  func add(_ record: LogRecord) {
    let isDue = state.withLock { state in
      guard !state.isClosed, state.text.bytes.count < LogWriter.mostGathered else {
        state.drop(1)
        return false
      }
      let isFirst = state.text.bytes.isEmpty
      state.text.add(record)
      guard !state.isDue, state.text.bytes.count >= LogWriter.enough else { return isFirst }
      state.isDue = true
      return true
    }
    if isDue { wake.signal() }
  }

  func flush() {
    output.withLock { flush(to: &$0) }
  }

  /// Writes buffered lines, and switches to another file, which this object closes.
  func replace(with file: Int32) {
    output.withLock { output in
      flush(to: &output)
      if output.isOwn { Glibc.close(output.file) }
      output = Output(file: file, isOwn: true)
    }
  }

  private func flush(to output: inout Output) {
    let (bytes, dropped) = state.withLock { state in
      let taken = state.text.take(leaving: state.spare)
      state.spare = []
      state.isDue = false
      return (taken, state.dropped)
    }
    let lost = write(bytes, to: &output)
    if lost > 0 { state.withLock { $0.drop(lost) } }
    if dropped > 0, lost == 0, write(Array("{\"dropped\":\(dropped)}\n".utf8), to: &output) == 0 {
      state.withLock { $0.dropped -= dropped }
    }
    if bytes.capacity <= 4 * LogWriter.enough { state.withLock { $0.spare = bytes } }
  }

  /// Writes buffered lines and ends the thread.
  func close() {
    let thread = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    guard let thread else { return }
    state.withLock { $0.isEnding = true }
    // Ends both waits.
    wake.signal()
    wake.signal()
    thread.join()
    state.withLock { $0.isClosed = true }
    flush()
    output.withLock { output in
      if output.isOwn { Glibc.close(output.file) }
      output = Output(file: -1, isOwn: false)
    }
  }

  /// Writes all bytes.
  ///
  /// - Returns: The number of lines that weren't written, including one written only in part.
  private func write(_ bytes: [UInt8], to output: inout Output) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let bytes = output.isTorn ? [UInt8(ascii: "\n")] + bytes : bytes
    var written = 0
    unsafe bytes.withUnsafeBytes { bytes in
      while written < bytes.count {
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
        let count = unsafe Glibc.write(output.file, part.baseAddress, part.count)
        if count > 0 {
          written += count
        } else if count < 0, errno == EAGAIN {
          usleep(1000)
        } else if count >= 0 || errno != EINTR {
          return
        }
      }
    }
    if written > 0 { output.isTorn = bytes[written - 1] != UInt8(ascii: "\n") }
    return bytes[written...].count { $0 == UInt8(ascii: "\n") }
  }
}
