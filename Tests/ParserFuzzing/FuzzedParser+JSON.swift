import Crypto
@testable import Identity
import JSON
import OpenIDConnect

extension FuzzedParser {
  static func json(_ bytes: [UInt8]) -> String? {
    guard let value = try? JSON.parse(bytes) else { return nil }
    let written = value.serialized()
    guard let again = try? JSON.parse(written) else { return "what was written can't be read" }
    return again == value ? nil : "a value changed when it was written and read"
  }

  /// Elements don't depend on how the document is divided.
  static func jsonElements(_ bytes: [UInt8]) -> String? {
    let whole = elements(bytes, size: max(bytes.count, 1))
    let size = 1 + Int(bytes.first ?? 0) % 7
    return elements(bytes, size: size) == whole
      ? nil : "chunks of \(size) bytes change the elements"
  }

  private static func elements(_ bytes: [UInt8], size: Int) -> [[UInt8]]? {
    var reader = JSON.ElementReader(member: "users", largestElement: 4_096)
    var elements: [JSON.ElementReader.Element] = []
    do {
      for start in stride(from: 0, to: bytes.count, by: size) {
        try reader.take(Array(bytes[start..<min(start + size, bytes.count)]), into: &elements)
      }
      try reader.finish()
    } catch {
      return nil
    }
    return elements.map(\.bytes)
  }

  static func policyFile(_ bytes: [UInt8]) -> String? {
    _ = try? PolicyFile(parsing: bytes)
    return nil
  }

  static func keySet(_ text: String) -> String? {
    _ = try? KeySet(text)
    return nil
  }

  static func token(_ text: String) -> String? {
    guard let token = JSONWebToken(text) else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else { return "a token without three parts is read" }
    return token.message.elementsEqual("\(parts[0]).\(parts[1])".utf8)
      ? nil : "the signed bytes aren't the first two parts"
  }

  /// What a provider answers, and its tokens without a key that signed them.
  static func openIDConnect(_ bytes: [UInt8], _ text: String) -> String? {
    let issuer = "https://id.example.com"
    _ = try? Discovery(bytes, of: issuer)
    _ = TokenResponse(bytes)
    _ = ProviderErrorCode(response: bytes)
    if let info = UserInfo(bytes, subject: "1"), let groups = info.groups(in: "groups") {
      guard groups.names.count <= ProviderGroups.most else { return "too many groups are read" }
    }
    let keys = try? KeySet(published: text)
    if let keys, (try? KeySet(keys.text)) != keys {
      return "keys changed when they were read again"
    }
    let check = TokenCheck(issuer: issuer, clientID: "1", keys: keys ?? KeySet(), now: 0)
    let expected = IDToken.Expectation(nonce: "n", accessToken: nil)
    return (try? IDToken(text, check, expected)) == nil ? nil : "an unsigned ID token is accepted"
  }

  static func auditHead(_ bytes: [UInt8]) -> String? {
    guard let head = AuditHead(line: bytes) else { return nil }
    return AuditHead(line: head.line) == head ? nil : "a head changed when it was written and read"
  }
}
