import Glibc
import HTTP
import Host

/// A log with one line of JSON per request: `time`, `level`, `event`, `id`, `peer`, `method`,
/// `path`, `status`, `bytes`, and `ms`.
///
/// The path is as sent, percent-encoded, without its query. Characters that aren't printable ASCII,
/// or that could end a JSON string, are escaped, so that no client can forge a line. `bytes` is the
/// size of the body. A request that wasn't answered completely has `"cut":true`, with status 0 when
/// there was no response, or one of libmicrohttpd.
///
/// Lines are buffered in memory and written by the log's own thread within a quarter of a second.
/// Lines are dropped when more than 16 MiB are waiting, and when the disk is full or the pipe is
/// closed. Once lines can be written again, a line `{"dropped":N}` shows how many were dropped.
public final class AccessLog: Sendable {
  let writer: LogWriter
  /// The path of the file; nil for a file descriptor from the caller.
  private let path: String?

  /// Logs to an open file descriptor, which the caller closes.
  ///
  /// - Throws: `ServerError` when there are too many threads.
  public init(fileDescriptor: Int32) throws(ServerError) {
    path = nil
    writer = try LogWriter(fileDescriptor, isOwn: false)
  }

  /// Appends to a file, which is created for its owner and group if it's missing.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: `ServerError`, such as `unreadableFile` when it can't be opened for writing.
  public init(path: String) throws(ServerError) {
    self.path = path
    writer = try LogWriter(try AccessLog.open(path), isOwn: true)
  }

  /// Reopens the file by its path, after it was moved.
  ///
  /// Buffered lines go to the previous file. A log on a file descriptor keeps it.
  ///
  /// - Throws: `ServerError.unreadableFile`; the previous file then stays in use.
  public func reopen() throws(ServerError) {
    guard let path else { return }
    writer.replace(with: try AccessLog.open(path))
  }

  private static func open(_ path: String) throws(ServerError) -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o640)
    guard file >= 0 else { throw .unreadable(path, .last) }
    return file
  }

  /// The number of lines dropped since the start.
  public var droppedLines: Int { writer.droppedLines }

  deinit {
    close()
  }

  /// Writes buffered lines and ends the log's thread; later lines are dropped.
  public func close() {
    writer.close()
  }

  func record(_ exchange: Exchange, isComplete: Bool) {
    writer.add(
      LogRecord(
        unixMilliseconds: SystemClock.unixMilliseconds(), id: exchange.id,
        proxyID: exchange.proxyID, peer: exchange.peer, method: exchange.method.name,
        target: exchange.rawTarget, status: exchange.status, bytes: exchange.sent,
        microseconds: (SystemClock.nanoseconds() - exchange.start) / 1000, isCut: !isComplete))
  }
}

struct LogRecord {
  let unixMilliseconds: UInt64
  let id: RequestID
  /// The ID of the request at a trusted proxy; nil for none.
  let proxyID: String?
  let peer: String
  let method: String
  let target: String
  let status: Int
  let bytes: Int
  let microseconds: UInt64
  let isCut: Bool
}

struct LogText {
  private(set) var bytes: [UInt8] = []
  private var second: UInt64 = .max
  private var secondText: [UInt8] = []

  /// The maximum length of each text, in bytes.
  private static let longest = (path: 1024, method: 32, peer: 64)
  /// The maximum size of a line without its texts, in bytes.
  private static let frame = 256
  private static let escape = 6

  /// Returns the lines and replaces them with an empty buffer.
  mutating func take(leaving room: [UInt8]) -> [UInt8] {
    var room = room
    room.removeAll(keepingCapacity: true)
    swap(&room, &bytes)
    return room
  }

  mutating func add(_ record: LogRecord) {
    if record.unixMilliseconds / 1000 != second {
      second = record.unixMilliseconds / 1000
      secondText = LogText.text(ofSecond: Int(second))
    }
    let longest = LogText.longest
    let path = LogText.pathEnd(record.target.utf8.span, atMost: longest.path)
    let method = min(record.method.utf8.count, longest.method)
    let peer = min(record.peer.utf8.count, longest.peer)
    let proxyID = record.proxyID ?? ""
    let room = LogText.frame + LogText.escape * (path + method + peer + proxyID.utf8.count)
    let secondText = secondText
    bytes.append(addingCapacity: room) { line in
      line.text("{\"time\":\"")
      line.escaped(secondText.span, secondText.count)
      line.text(".")
      line.digits(record.unixMilliseconds % 1000, 3)
      line.text("Z\",\"level\":\"info\",\"event\":\"request\",\"id\":\"")
      for index in 0..<12 { line.append(record.id.character(index)) }
      if !proxyID.isEmpty {
        line.text("\",\"proxy_id\":\"")
        line.escaped(proxyID.utf8.span, proxyID.utf8.count)
      }
      line.text("\",\"peer\":\"")
      line.escaped(record.peer.utf8.span, peer)
      line.text("\",\"method\":\"")
      line.escaped(record.method.utf8.span, method)
      line.text("\",\"path\":\"")
      line.escaped(record.target.utf8.span, path)
      line.text("\",\"status\":")
      line.number(UInt64(record.status))
      line.text(",\"bytes\":")
      line.number(UInt64(record.bytes))
      line.text(",\"ms\":")
      line.number(record.microseconds / 1000)
      line.text(".")
      line.digits(record.microseconds % 1000, 3)
      line.text(record.isCut ? ",\"cut\":true}\n" : "}\n")
    }
  }

  /// Returns where the path of a target ends: before its query, or at the maximum length.
  private static func pathEnd(_ target: borrowing Span<UInt8>, atMost most: Int) -> Int {
    let most = min(target.count, most)
    for index in 0..<most where target[index] == UInt8(ascii: "?") { return index }
    return most
  }

  /// Formats a second since 1970 as `2026-01-31T23:59:59`.
  private static func text(ofSecond second: Int) -> [UInt8] {
    var second = time_t(second)
    var time = unsafe tm()
    var text = [CChar](repeating: 0, count: 32)
    _ = unsafe gmtime_r(&second, &time)
    let count = unsafe strftime(&text, text.count, "%Y-%m-%dT%H:%M:%S", &time)
    return text.prefix(count).map { UInt8(bitPattern: $0) }
  }
}

extension OutputSpan<UInt8> {
  fileprivate mutating func text(_ text: StaticString) {
    let bytes = unsafe Span(_unsafeStart: text.utf8Start, count: text.utf8CodeUnitCount)
    for index in bytes.indices { append(bytes[index]) }
  }

  fileprivate mutating func number(_ value: UInt64) {
    for byte in String(value).utf8 { append(byte) }
  }

  /// Appends the last digits of a number, with leading zeros.
  fileprivate mutating func digits(_ value: UInt64, _ count: Int) {
    var scale: UInt64 = 1
    for _ in 1..<count { scale *= 10 }
    while scale > 0 {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / scale % 10))
      scale /= 10
    }
  }

  /// Appends the first bytes of a text as the content of a JSON string, escaping everything except
  /// plain printable ASCII.
  fileprivate mutating func escaped(_ text: borrowing Span<UInt8>, _ count: Int) {
    for index in 0..<count {
      let byte = text[index]
      if byte >= 0x20, byte < 0x7F, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
        append(byte)
      } else {
        self.text("\\u00")
        append(hexadecimal(byte >> 4))
        append(hexadecimal(byte & 15))
      }
    }
  }
}

private func hexadecimal(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}
