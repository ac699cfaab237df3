import Crypto
import JSON
import Localization
import Testing

@testable import IdentityToolkitClient

/// Credentials as people paste them, and what isn't one.
struct RemoteCredentialTests {
  private func error(
    _ bytes: [UInt8], _ kind: RemoteProject.Kind = .identityPlatform
  ) -> RemoteCredentialError? {
    do throws(RemoteCredentialError) {
      _ = try RemoteCredential(bytes, for: kind)
      return nil
    } catch {
      return error
    }
  }

  private func key(_ changes: [String: JSON?] = [:]) throws -> ServiceAccountKey? {
    guard case .serviceAccount(let key) = try TestKey.credential(changes) else { return nil }
    return key
  }

  @Test func `a key is read without the addresses in its file`() throws {
    let key = try #require(try self.key())
    #expect(key.email == TestKey.email && key.project == "demo-connected")
    #expect(key.keyID == "3f2a0000000000000000000000000000000000aa")
    let message = Array("message".utf8)
    #expect(try TestKey.rsa().verify(try key.key.sign(message), of: message))
    #expect(try self.key(["project_id": nil, "universe_domain": nil])?.project == nil)
  }

  @Test func `a private key is read as it's often pasted`() throws {
    let pem = try TestKey.pem()
    let message = Array("message".utf8)
    for text in [
      pem.replacing("\n", with: "\\n"), pem.replacing("\n", with: "\r\n"),
      pem.replacing("\n", with: ""), "text before\n\(pem)text after",
      pem.replacing("PRIVATE KEY", with: "RSA PRIVATE KEY"),
    ] {
      let key = try #require(try self.key(["private_key": .string(text)]))
      #expect(try TestKey.rsa().verify(try key.key.sign(message), of: message))
    }
  }

  @Test func `a private key that was cut off or changed is refused`() throws {
    let pem = try TestKey.pem()
    for text in [
      "", "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n", String(pem.dropLast(200)),
      pem.replacing("PRIVATE KEY", with: "PUBLIC KEY"), pem.replacing("-----END", with: ""),
      pem.replacing("A", with: "*"), "-----END PRIVATE KEY-----\n-----BEGIN PRIVATE KEY-----",
    ] {
      let file = try TestKey.file(["private_key": .string(text)])
      #expect(error(file.serialized()) == .invalidKey)
    }
  }

  @Test func `a short key, and one of another kind, are refused`() throws {
    let short = try RSAKey.generate(bits: 1_024).privateDER().revealedBytes
    // An Ed25519 key (RFC 8410, section 10.3).
    let other = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC"
    for text in [Base64URL.encodeStandard(short), other] {
      let pem = "-----BEGIN PRIVATE KEY-----\n\(text)\n-----END PRIVATE KEY-----"
      let file = try TestKey.file(["private_key": .string(pem)])
      #expect(error(file.serialized()) == .invalidKey)
    }
  }

  @Test(
    arguments: [
      (["type": "authorized_user"], .otherType("authorized_user")),
      (["type": "external_account"], .otherType("external_account")),
      (["type": "impersonated_service_account"], .otherType("impersonated_service_account")),
      (["type": nil], .invalid("type")), (["type": "a\u{202E}b"], .invalid("type")),
      (["universe_domain": "apis-tpczero.goog"], .otherUniverse("apis-tpczero.goog")),
      (["universe_domain": 1], .invalid("universe_domain")),
      (["client_email": nil], .invalid("client_email")),
      (["client_email": "a b@c.example"], .invalid("client_email")),
      (["client_email": "nobody"], .invalid("client_email")),
      (["private_key_id": ""], .invalid("private_key_id")),
      (["private_key_id": .string(String(repeating: "a", count: 257))], .invalid("private_key_id")),
      (["private_key": nil], .invalid("private_key")),
      (["private_key": 7], .invalid("private_key")),
    ] as [([String: JSON?], RemoteCredentialError)])
  func `a file that isn't a key of Google's says why`(
    changes: [String: JSON?], expected: RemoteCredentialError
  ) throws {
    #expect(error(try TestKey.file(changes).serialized()) == expected)
    #expect(!expected.message.english.isEmpty)
  }

  @Test(arguments: ["", "cst_0123456789", "[]", "{", #"{"type":"service_account""#, "\u{FEFF}{}"])
  func `what isn't a JSON object is refused`(text: String) {
    #expect(error(Array(text.utf8)) == .notJSON)
  }

  @Test func `a credential has at most 16 KiB`() throws {
    let file = try TestKey.file().serialized()
    let space = [UInt8](repeating: 0x20, count: RemoteCredential.longest - file.count)
    #expect(error(file + space) == nil)
    #expect(error(file + space + [0x20]) == .notJSON)
  }

  @Test func `a service token has at most 256 bytes`() {
    let token = Array("cst_".utf8) + [UInt8](repeating: 0x61, count: 252)
    #expect(error(token, .countersign) == nil)
    #expect(error(token + [0x61], .countersign) == .notToken)
  }

  @Test(arguments: ["cst_abc", " cst_abc\n", "cst_\nabc\r\n"])
  func `a service token is read without white space`(text: String) throws {
    guard
      case .serviceToken(let token) = try RemoteCredential(Array(text.utf8), for: .countersign)
    else {
      Issue.record("no service token")
      return
    }
    #expect(token.revealedText == "cst_abc")
  }

  @Test(arguments: ["", "cst", "abc", "ya29.abc", "cst_é", "cst_\u{7F}", "{}"])
  func `what isn't a service token is refused`(text: String) {
    #expect(error(Array(text.utf8), .countersign) == .notToken)
  }

  @Test func `a credential shows nothing of its secret`() throws {
    let token = try RemoteCredential(Array("cst_abc".utf8), for: .countersign)
    let line = try TestKey.pem().split(separator: "\n")[5]
    for (credential, secret) in [(try TestKey.credential(), line), (token, "cst_abc")] {
      var dumped = ""
      dump(credential, to: &dumped)
      #expect(!"\(credential)".contains(secret) && !dumped.contains(secret))
    }
  }
}
