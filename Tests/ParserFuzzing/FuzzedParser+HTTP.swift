import HTTP
import HTTPClient
@testable import HTTPServer
@testable import Identity
import Network
import Text

extension FuzzedParser {
  static func form(_ bytes: [UInt8]) -> String? {
    guard let form = try? Form(reading: bytes.span) else { return nil }
    return Form(urlEncoded: form.urlEncoded) == form
      ? nil : "a form changed when it was written and read"
  }

  static func target(_ text: String) -> String? {
    guard let target = Target(text) else { return nil }
    for count in 0...target.segments.count {
      // Of a slash alone, no segment is left.
      guard let rest = target.droppingFirst(count), rest.rawPath != "/" else { continue }
      guard rest.segments.elementsEqual(target.segments.dropFirst(count)) else {
        return "dropping \(count) segments changes the others"
      }
    }
    return nil
  }

  static func cookies(_ text: String) -> String? {
    let cookies = Cookies([.cookie: text])
    _ = cookies["session"]
    _ = cookies.all(startingWith: "__Host-")
    return nil
  }

  /// What is logged of a browser's report is short, and has no path, query, or user's name.
  static func violationReport(_ bytes: [UInt8]) -> String? {
    guard let report = ViolationReport(bytes) else { return nil }
    guard ViolationReport.directives.contains(report.directive) else {
      return "a directive isn't in the list"
    }
    for part in [report.page, report.blocked, report.source].compactMap(\.self) {
      guard part.utf8.count <= 100, part.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
        return "a part is long, or isn't plain ASCII"
      }
      guard !part.utf8.contains(where: { "?#@".utf8.contains($0) }) else {
        return "a part has more than an origin or a segment"
      }
    }
    return report.page.utf8.dropFirst().contains(UInt8(ascii: "/"))
      ? "a page has more than one segment" : nil
  }

  static func entityTag(_ text: String) -> String? {
    let tag = EntityTag("a1")
    _ = tag.matches(text)
    return tag.matches("*") ? nil : "the star matches nothing"
  }

  static func forwardedFor(_ text: String) -> String? {
    guard let proxies = AddressRange("10.0.0.0/8") else { return "no range" }
    let lines = text.split(separator: "\n").map(String.init)
    guard let client = Origin.client(lines, through: [proxies]) else { return nil }
    return addresses(client.description)
  }

  static func addresses(_ text: String) -> String? {
    if let range = AddressRange(text), AddressRange(range.description) != range {
      return "a range changed when it was written and read"
    }
    guard let address = NetworkAddress(text) else { return nil }
    guard NetworkAddress(address.description) == address else {
      return "an address changed when it was written and read"
    }
    return address.network.isIPv4 == address.isIPv4 ? nil : "a network is of another kind"
  }

  static func hostName(_ text: String) -> String? {
    guard HostName.isValid(text) else { return nil }
    return text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? nil : "a host name isn't plain ASCII"
  }

  static func clientURL(_ text: String) -> String? {
    guard let url = try? ClientURL(text) else { return nil }
    return url.host.isEmpty ? "a URL has no host" : nil
  }

  static func continueURL(_ text: String) -> String? {
    guard let host = ContinueURL.host(of: text) else { return nil }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      return "a host isn't plain ASCII"
    }
    _ = ContinueURL.isAuthorized(host, ["example.com", "127.0.0.1"])
    return nil
  }
}
