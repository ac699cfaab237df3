import HTTP

/// The web pages that can call the emulator, by origin.
///
/// The emulator profile requires no real credentials, so any page that a developer visits could
/// delete its accounts. Pages served from this machine, on any port, and the emulator's own pages
/// can call it. Other origins, including opaque ones (`null`), have to be listed. A request without
/// an `Origin` field isn't from a page.
public struct EmulatorOrigins: Sendable {
  private let named: Set<[UInt8]>

  /// Allows origins, for each of which `isOrigin` returns true, in addition to those of this
  /// machine; case doesn't matter.
  public init(_ named: [String] = []) {
    self.named = Set(named.map(EmulatorOrigins.folded))
  }

  /// Returns whether a text is an origin: `scheme://host` with or without a port, or `null` (RFC
  /// 6454).
  public static func isOrigin(_ text: String) -> Bool {
    if text == "null" { return true }
    guard text.utf8.count <= 512, let host = host(of: text) else { return false }
    return !host.utf8.isEmpty
      && host.utf8.allSatisfy { byte in
        byte > 0x20 && byte < 0x7F && !"/?#@\\\"*,".utf8.contains(byte)
      }
  }

  /// Returns whether the page that sends a request is allowed to.
  ///
  /// All `Origin` fields are checked; `own` is the server's own URL, whose pages are allowed.
  func allow(_ request: Request, own: String) -> Bool {
    let origins = request.fields.all(.origin)
    guard let origin = origins.first else { return true }
    guard origins.count == 1, origin.utf8.count <= 512 else { return false }
    let bytes = EmulatorOrigins.folded(origin)
    if bytes == EmulatorOrigins.folded(own) || named.contains(bytes) { return true }
    return EmulatorOrigins.host(of: origin).map { LoopbackHost.isLoopback(String($0)) } ?? false
  }

  private static func host(of origin: String) -> Substring? {
    guard let end = origin.firstRange(of: "://") else { return nil }
    let scheme = origin[..<end.lowerBound].utf8
    let isScheme = scheme.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
    return !scheme.isEmpty && isScheme ? origin[end.upperBound...] : nil
  }

  /// Returns the bytes with ASCII letters lowercased.
  private static func folded(_ text: String) -> [UInt8] {
    text.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }
}
