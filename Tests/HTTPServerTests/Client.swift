import Dispatch
import Glibc

/// A client that sends exact bytes.
///
/// It blocks, so it runs on its own queue and leaves the pool to the handlers under test.
actor Client {
  struct Answer: Sendable {
    var status = 0
    var fields: [(name: String, value: String)] = []
    var body: [UInt8] = []

    var text: String { String(decoding: body, as: UTF8.self) }

    func all(_ name: String) -> [String] {
      fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    subscript(name: String) -> String? { all(name).first }
  }

  private let socket: Int32
  private let executor = QueueExecutor()
  private var buffer: [UInt8] = []
  private var isClosed = false

  /// Connects from 127.0.0.`source`; `patience` is the read timeout in seconds.
  init(port: Int, patience: Int = 10, receiveBuffer: Int32? = nil, source: UInt8 = 1) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var time = timeval(tv_sec: patience, tv_usec: 0)
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(
      socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    if var size = receiveBuffer {
      unsafe setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result =
      unsafe Client.withAddress(source, port: 0) { unsafe bind(socket, $0, size) }
      | Client.withAddress(1, port: port) { unsafe connect(socket, $0, size) }
    if result != 0 { throw Failure.refused }
  }

  private static func withAddress(
    _ last: UInt8, port: Int, _ body: (UnsafePointer<sockaddr>) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(last)).bigEndian
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
    }
  }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe executor.asUnownedSerialExecutor()
  }

  enum Failure: Error {
    case refused
    case closed
    case silent
    case malformed(String)
  }

  deinit {
    if !isClosed { Glibc.close(socket) }
  }

  func close() {
    if !isClosed { Glibc.close(socket) }
    isClosed = true
  }

  /// Closes the sending side; responses can still be read.
  func finish() {
    shutdown(socket, Int32(SHUT_WR))
  }

  /// Sends all bytes; returns false when the server has closed the connection.
  @discardableResult
  func send(_ text: String) -> Bool {
    send(Array(text.utf8))
  }

  /// Sends all bytes; returns false when the server has closed the connection.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = unsafe bytes[sent...].withUnsafeBytes {
        unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Sends parts one at a time, until the server has closed the connection.
  ///
  /// It doesn't return to the test in between: while other tests block its threads, the server would
  /// end a connection that sends nothing.
  func send(each parts: [[UInt8]]) {
    for part in parts where !part.isEmpty {
      guard send(part) else { return }
      sched_yield()
    }
  }

  /// Reads available bytes; returns false at the end.
  private func fill() throws -> Bool {
    var part = [UInt8](repeating: 0, count: 64 << 10)
    let count = unsafe recv(socket, &part, part.count, 0)
    if count < 0, errno == EAGAIN { throw Failure.silent }
    guard count > 0 else { return false }
    buffer += part.prefix(count)
    return true
  }

  /// Reads one response, delimited according to RFC 9112.
  func answer(toHead: Bool = false) throws -> Answer {
    while true {
      if let end = headerEnd() {
        let header = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeFirst(end + 4)
        var answer = try Client.parse(header)
        if toHead || answer.status < 200 || answer.status == 204 || answer.status == 304 {
          return answer
        }
        guard let length = answer["Content-Length"].flatMap({ Int($0) }) else {
          throw Failure.malformed(header)
        }
        while buffer.count < length { guard try fill() else { throw Failure.closed } }
        answer.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return answer
      }
      guard try fill() else { throw Failure.closed }
    }
  }

  /// Returns whether the server closes the connection without another byte.
  func isAtEnd() throws -> Bool {
    guard buffer.isEmpty else { return false }
    return try !fill()
  }

  /// Returns all bytes until the server closes the connection.
  func rest() throws -> [UInt8] {
    while try fill() {}
    return buffer
  }

  /// Returns all bytes until the server closes the connection or waits for more, such as for the rest
  /// of a body.
  func restUntilSilence() throws -> [UInt8] {
    do { return try rest() } catch Failure.silent { return buffer }
  }

  /// Reads at most `count` bytes and leaves the rest in the socket buffer.
  func sip(_ count: Int) -> Int {
    var part = [UInt8](repeating: 0, count: count)
    return unsafe recv(socket, &part, count, 0)
  }

  private func headerEnd() -> Int? {
    guard buffer.count >= 4 else { return nil }
    return (0...(buffer.count - 4)).first { Array(buffer[$0..<($0 + 4)]) == [13, 10, 13, 10] }
  }

  private static func parse(_ header: String) throws -> Answer {
    var lines = header.split(separator: "\r\n").makeIterator()
    guard let words = lines.next()?.split(separator: " "), words.count > 1, words[0] == "HTTP/1.1",
      let status = Int(words[1])
    else { throw Failure.malformed(header) }
    var answer = Answer(status: status)
    while let line = lines.next() {
      guard let colon = line.firstIndex(of: ":") else { throw Failure.malformed(header) }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      answer.fields.append((String(line[..<colon]), String(value)))
    }
    return answer
  }
}

/// Runs an actor on a queue with its own thread.
private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "client")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}
