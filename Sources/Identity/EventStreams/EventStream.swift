import Database
import Network
import Text

/// A destination that the entries of the audit log are copied to, in their order.
public struct EventStream: Sendable {
  /// How events are delivered; the raw value is the stored name.
  public enum Kind: String, CaseIterable, Sendable {
    /// Appended to a file of the server.
    case file
    /// Syslog over TCP (RFC 6587), not encrypted.
    case syslog
    /// Syslog over TLS (RFC 5425).
    case syslogTLS = "syslog-tls"
    /// Signed HTTP requests.
    case webhook
  }

  /// The result of the last test event.
  public enum Test: Sendable {
    /// None was requested.
    case none
    /// It's sent shortly.
    case pending
    /// It was delivered.
    case delivered(Instant)
    /// It wasn't delivered.
    case failed(Instant, EventFailure)
  }

  /// The ID.
  public let id: ID<EventStream>
  /// How events are delivered.
  public let kind: Kind
  /// The display name.
  public let name: String
  /// The name of a file, a host and port, or a URL.
  public let target: String
  /// When the stream was added.
  public let createdAt: Instant
  /// The name of the administrator who added it.
  public let createdBy: String
  /// When it was paused; nil if it isn't.
  public let pausedAt: Instant?
  /// The position of the last entry that was delivered or refused.
  public let position: Int64
  /// The position of the last signed head that was delivered.
  public let headPosition: Int64
  /// When events were last delivered; nil if none were.
  public let deliveredAt: Instant?
  /// The number of attempts that failed since then.
  public let failures: Int
  /// When an attempt last failed; nil if the last one didn't.
  public let failedAt: Instant?
  /// Why it failed.
  public let failure: EventFailure?
  /// The earliest time of the next attempt; nil for immediately.
  public let nextTryAt: Instant?
  /// The result of the last test event.
  public let test: Test
  let sealedSecret: [UInt8]?
  let testAskedAt: Instant?

  static let columns: SQL = """
    stream_id, kind, name, target, sealed_secret, created_at, created_by, paused_at, sequence, \
    head_sequence, delivered_at, failures, failed_at, failure, next_try_at, test_asked_at, \
    tested_at, test_failure
    """

  init(_ row: borrowing Row) throws {
    id = ID(try row.value(0))
    guard let kind = Kind(rawValue: try row.value(1)) else {
      throw Failure("unknown kind of event stream")
    }
    self.kind = kind
    (name, target) = (try row.value(2), try row.value(3))
    sealedSecret = try row.value(4)
    createdAt = try row.value(5)
    createdBy = try row.value(6)
    pausedAt = try row.value(7)
    (position, headPosition) = (try row.value(8), try row.value(9))
    deliveredAt = try row.value(10)
    failures = try row.value(11)
    failedAt = try row.value(12)
    failure = (try row.value(13) as String?).map { EventFailure(stored: $0) }
    nextTryAt = try row.value(14)
    testAskedAt = try row.value(15)
    let testFailure: String? = try row.value(17)
    test =
      if testAskedAt != nil {
        .pending
      } else if let at = try row.value(16) as Instant? {
        testFailure.map { .failed(at, EventFailure(stored: $0)) } ?? .delivered(at)
      } else {
        .none
      }
  }

  /// Reads all streams in the order of their IDs.
  static func all(_ connection: borrowing Connection) throws -> [EventStream] {
    try connection.all(
      "SELECT \(columns) FROM event_stream WHERE stream_id > '' ORDER BY stream_id"
    ) { try EventStream($0) }
  }

  /// Finds a stream; nil if there is none.
  static func find(
    _ id: ID<EventStream>, _ connection: borrowing Connection
  ) throws -> EventStream? {
    try connection.first(
      "SELECT \(columns) FROM event_stream WHERE stream_id = \(id.text)"
    ) { try EventStream($0) }
  }
}

/// Why events weren't delivered.
public enum EventFailure: Sendable, Equatable {
  /// The destination's words, or those of the library that connects to it.
  case reported(String)
  /// The signing secret can't be decrypted.
  case undecryptable
  /// The entry was deleted because of its age before it was delivered.
  case expired

  private static let longest = 300

  /// The text of the column.
  var stored: String {
    switch self {
    case .reported(let text): StoredCode("reported", [text.prefix(bytes: Self.longest)]).text
    case .undecryptable: StoredCode("undecryptable").text
    case .expired: StoredCode("expired").text
    }
  }

  init(stored text: String) {
    let stored = StoredCode(text)
    self =
      switch stored?.code {
      case "undecryptable": .undecryptable
      case "expired": .expired
      default: .reported(stored?.values.first ?? text)
      }
  }
}

/// A destination's kind and address.
public struct EventDestination: Sendable {
  /// The kind.
  public let kind: EventStream.Kind
  /// The name of a file, a host and port, or a URL.
  public let target: String

  private static let longestFileName = 64
  private static let longestURL = 2_048

  /// Checks the address of a destination; nil if it isn't valid.
  ///
  /// A file has a name of lowercase letters, digits, and hyphens, so that it stays in its folder. A
  /// URL begins with `https://`, or with `http://` for this machine.
  public init?(_ kind: EventStream.Kind, _ target: String) {
    let isValid =
      switch kind {
      case .file: Self.isFileName(target)
      case .syslog, .syslogTLS: Self.isServer(target)
      case .webhook: Self.isURL(target)
      }
    guard isValid else { return nil }
    (self.kind, self.target) = (kind, target)
  }

  private static func isFileName(_ text: String) -> Bool {
    (1...longestFileName).contains(text.utf8.count) && !text.hasPrefix("-")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Whether a text is a host and a port, such as `log.example.com:6514` or `[2001:db8::1]:6514`.
  private static func isServer(_ text: String) -> Bool {
    guard text.utf8.count <= 260, let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else {
      return false
    }
    let host = text[..<colon]
    let port = text[colon...].dropFirst()
    guard (1...5).contains(port.utf8.count),
      port.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(port), (1...65_535).contains(number)
    else { return false }
    guard host.hasPrefix("[") else { return HostName.isValid(host) }
    return host.hasSuffix("]") && NetworkAddress(String(host.dropFirst().dropLast())) != nil
  }

  /// Whether a text is a URL that begins with `https://`, or with `http://` for this machine.
  static func isURL(_ text: String) -> Bool {
    guard text.utf8.count <= longestURL, text.utf8.allSatisfy({ (33...126).contains($0) }),
      let host = ContinueURL.host(of: text), !text.contains("#"),
      !text.dropFirst("https://".utf8.count).prefix(while: { !"/?".contains($0) }).contains("@")
    else { return false }
    let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    return text.lowercased().hasPrefix("https://") || HostName.isLoopback(name)
  }
}

extension String {
  /// Returns the longest beginning of whole characters with at most this many bytes.
  func prefix(bytes most: Int) -> String {
    guard utf8.count > most else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: most)
    while String.Index(end, within: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}
