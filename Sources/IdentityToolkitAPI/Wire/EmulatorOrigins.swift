import HTTP

/// The web pages that may call the emulator, by their origins.
///
/// The emulator profile asks for no real credential, so any page that a developer visits could
/// delete its accounts. Pages of this machine may call it, on whatever port they are served, and so
/// may the emulator's own. Others, and those without an origin of their own (`null`), have to be
/// named. A request without the field isn't a page's.
public struct EmulatorOrigins: Sendable {
  private let named: Set<[UInt8]>

  /// Allows origins beside those of this machine.
  ///
  /// - Parameter named: Origins for which `isOrigin` holds; upper and lower case don't differ.
  public init(_ named: [String] = []) {
    self.named = Set(named.map(EmulatorOrigins.folded))
  }

  /// Whether a text is an origin: `scheme://host` with a port or without, or `null` (RFC 6454).
  public static func isOrigin(_ text: String) -> Bool {
    if text == "null" { return true }
    guard text.utf8.count <= 512, let host = host(of: text) else { return false }
    return !host.utf8.isEmpty
      && host.utf8.allSatisfy { byte in
        byte > 0x20 && byte < 0x7F && !"/?#@\\\"*,".utf8.contains(byte)
      }
  }

  /// Whether the page that sends a request may.
  ///
  /// - Parameters:
  ///   - request: The request, of which all fields `Origin` count.
  ///   - own: The server's own address, whose pages may.
  /// - Returns: Whether the request may be answered.
  func allow(_ request: Request, own: String) -> Bool {
    let origins = request.fields.all(.origin)
    guard let origin = origins.first else { return true }
    guard origins.count == 1, origin.utf8.count <= 512 else { return false }
    let bytes = EmulatorOrigins.folded(origin)
    if bytes == EmulatorOrigins.folded(own) || named.contains(bytes) { return true }
    return EmulatorOrigins.host(of: origin).map { LoopbackHost.isLoopback(String($0)) } ?? false
  }

  /// What is behind the scheme; nil without a scheme.
  private static func host(of origin: String) -> Substring? {
    guard let end = origin.firstRange(of: "://") else { return nil }
    let scheme = origin[..<end.lowerBound].utf8
    let isScheme = scheme.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
    return !scheme.isEmpty && isScheme ? origin[end.upperBound...] : nil
  }

  /// The bytes with ASCII letters in lower case.
  private static func folded(_ text: String) -> [UInt8] {
    text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}
