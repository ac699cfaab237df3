import Identity
import JSON

/// Formats events as syslog messages (RFC 5424).
struct SyslogMessage {
  private let host: String
  private let process: Int32

  /// Creates a format.
  ///
  /// - Parameters:
  ///   - host: The name of this machine.
  ///   - process: The ID of this process.
  init(host: String, process: Int32) {
    self.host = Self.name(host, atMost: 255)
    self.process = process
  }

  private static let facility = 13
  private static let warning = 4
  private static let informational = 6

  /// The message of an event, preceded by its length in bytes (RFC 6587 section 3.4.1).
  func frame(_ event: StreamEvent) -> [UInt8] {
    let message = message(event)
    return Array("\(message.count) ".utf8) + message
  }

  /// The message of an event, whose text is JSON.
  func message(_ event: StreamEvent) -> [UInt8] {
    let severity = event.name == "gap" ? Self.warning : Self.informational
    // Only elements that IANA has registered: others would need a number of an enterprise.
    var elements = #"[origin software="countersign" swVersion="\#(Countersign.version)"]"#
    if event.sequence > 0 {
      elements += #"[meta sequenceId="\#((event.sequence - 1) % 2_147_483_647 + 1)"]"#
    }
    let head = """
      <\(Self.facility * 8 + severity)>1 \(event.at.rfc3339) \(host) countersign \(process) \
      \(Self.name(event.name, atMost: 32)) \(elements) 
      """
    return Array(head.utf8) + event.json.serialized()
  }

  /// A name without spaces; the nil value if it's empty.
  private static func name(_ text: String, atMost most: Int) -> String {
    let bytes = text.utf8.filter { (33...126).contains($0) }.prefix(most)
    return bytes.isEmpty ? "-" : String(decoding: bytes, as: UTF8.self)
  }
}
