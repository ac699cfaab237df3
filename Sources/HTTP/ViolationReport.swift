import JSON
import Text

/// A violation of a page's content security policy, as a browser reports it to `report-uri`
/// (Content Security Policy Level 3, section 5.3).
///
/// Nothing in it is trusted: directives are those of a list, and the rest is cut to parts of an
/// address that contain no secret. The path of a page can be a single-use link, so only its first
/// segment is kept, and of other addresses only the origin.
public struct ViolationReport: Sendable, Equatable {
  /// The violated directive, or `other`.
  public let directive: String
  /// The first segment of the page's path, such as `/projects`; `other` if it has unusual
  /// characters.
  public let page: String
  /// The origin of what was blocked, or a keyword such as `inline`; `other` if it's neither.
  public let blocked: String
  /// The origin of the file that caused it; nil if there's none.
  public let source: String?

  /// The media type in which browsers send a report.
  public static let mediaType = "application/csp-report"
  /// The maximum size of a report in bytes; it contains the policy and up to three addresses.
  public static let limit = 16 << 10
  /// The directives that are told apart, and `other`.
  public static let directives = [
    "default-src", "script-src", "script-src-elem", "script-src-attr", "style-src",
    "style-src-elem", "style-src-attr", "img-src", "connect-src", "font-src", "media-src",
    "object-src", "frame-src", "child-src", "worker-src", "manifest-src", "form-action", "base-uri",
    "frame-ancestors", other,
  ]
  /// What a value that isn't known or allowed is replaced with.
  public static let other = "other"
  private static let keywords = ["inline", "eval", "wasm-eval", "self", "data", "blob", "about"]
  private static let longestPart = 100

  /// Reads a report; nil if the body isn't one.
  public init?(_ body: [UInt8]) {
    guard body.count <= Self.limit, let report = (try? JSON.parse(body))?["csp-report"],
      report.objectValue != nil
    else { return nil }
    func text(_ name: String) -> [UInt8] {
      Array(report[name]?.textValue?.utf8 ?? "".utf8)
    }
    let effective = text("effective-directive")
    let violated = text("violated-directive").prefix { $0 != UInt8(ascii: " ") }
    let named = effective.isEmpty ? Array(violated) : effective
    directive = Self.directives.first { named.elementsEqual($0.utf8) } ?? Self.other
    page = Self.firstSegment(text("document-uri")) ?? Self.other
    let blocked = text("blocked-uri")
    self.blocked =
      Self.keywords.first { blocked.elementsEqual($0.utf8) } ?? Self.origin(blocked) ?? Self.other
    let source = text("source-file")
    self.source = source.isEmpty ? nil : Self.origin(source) ?? Self.other
  }

  /// Splits an address into its origin and the rest; nil if it has no scheme and host.
  private static func split(_ address: [UInt8]) -> (origin: [UInt8], rest: ArraySlice<UInt8>)? {
    let slash = UInt8(ascii: "/")
    guard let colon = address.firstIndex(of: UInt8(ascii: ":")),
      address[colon...].starts(with: "://".utf8)
    else { return nil }
    let host = address[(colon + 3)...]
    let end = host.firstIndex { [slash, UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
    return (Array(address[..<(end ?? host.endIndex)]), address[(end ?? host.endIndex)...])
  }

  /// The scheme, host, and port of an address; nil if there are none, or with a user's name.
  private static func origin(_ address: [UInt8]) -> String? {
    guard let origin = split(address)?.origin else { return nil }
    return checked(origin) { byte in
      isLetterOrDigit(byte) || "+-.:/[]".utf8.contains(byte)
    }
  }

  /// The first segment of an address's path.
  private static func firstSegment(_ address: [UInt8]) -> String? {
    guard let rest = split(address)?.rest else { return nil }
    let segment = rest.dropFirst().prefix { !"/?#".utf8.contains($0) }
    return checked(Array("/".utf8) + segment) { byte in
      isLetterOrDigit(byte) || "-_/".utf8.contains(byte)
    }
  }

  private static func checked(_ bytes: [UInt8], _ isAllowed: (UInt8) -> Bool) -> String? {
    guard bytes.count <= longestPart, bytes.allSatisfy(isAllowed) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
