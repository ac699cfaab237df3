import Crypto
import JSON
import OpenIDConnect
import TestProvider
import Testing

struct DiscoveryTests {
  private static let issuer = "https://id.example.com"

  private static func read(_ changes: [(String, JSON?)]) throws -> Discovery {
    var members: [(String, JSON)] = [
      ("issuer", "https://id.example.com"),
      ("authorization_endpoint", "https://id.example.com/authorize"),
      ("token_endpoint", "https://id.example.com/token"),
      ("jwks_uri", "https://id.example.com/keys"),
    ]
    for (name, value) in changes {
      members.removeAll { $0.0 == name }
      if let value { members.append((name, value)) }
    }
    return try Discovery(JSON.object(JSON.Object(members)).serialized(), of: issuer)
  }

  @Test func `a document without lists is accepted`() throws {
    let found = try Self.read([])
    #expect(found.userInfoEndpoint == nil && found.acceptsBasic && !found.namesIssuer)
    #expect(Discovery.address(of: Self.issuer) == Self.issuer + "/.well-known/openid-configuration")
    #expect(
      Discovery.address(of: Self.issuer + "/a/")
        == Self.issuer + "/a/.well-known/openid-configuration")
  }

  @Test(
    arguments: [
      ([("issuer", "https://id.example.com/")], Discovery.Fault.otherIssuer),
      ([("issuer", nil)], .otherIssuer), ([("jwks_uri", nil)], .missing("jwks_uri")),
      ([("token_endpoint", "https://id.example.com/a b")], .missing("token_endpoint")),
      (
        [("authorization_endpoint", .string("https://" + String(repeating: "a", count: 2_048)))],
        .missing("authorization_endpoint")
      ),
      ([("response_types_supported", ["id_token"])], .noCodeFlow),
      ([("code_challenge_methods_supported", ["plain"])], .noPKCE),
      ([("id_token_signing_alg_values_supported", ["HS256", "none"])], .noAlgorithm),
    ] as [([(String, JSON?)], Discovery.Fault)])
  func `a document that a sign-in can't use is rejected`(
    _ changes: [(String, JSON?)], _ fault: Discovery.Fault
  ) {
    #expect(throws: fault) { try Self.read(changes) }
  }

  @Test(arguments: ["", "[]", "{", "null", "{\"issuer\": 1}"])
  func `text that isn't a document is rejected`(_ text: String) {
    #expect(throws: Discovery.Fault.self) { try Discovery(Array(text.utf8), of: Self.issuer) }
  }

  @Test func `keys that can't be used are omitted`() throws {
    let good = try TestProvider.keySet([0])
    let entries = try #require(try JSON.parse(Array(good.utf8))["keys"]?.arrayValue)
    let bad: [JSON] = [
      ["kty": "oct", "k": "AA"], ["kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "short"],
      ["kty": "EC", "crv": "P-384"], [:], 1, ["kty": "OKP", "crv": "Ed25519", "x": "AA"],
    ]
    let mixed: JSON = ["keys": .array(bad + entries)]
    let text = String(decoding: mixed.serialized(), as: UTF8.self)
    #expect(try KeySet(published: text).count == 1)
    #expect(throws: KeySet.Fault.noKey) { try KeySet(published: #"{"keys": []}"#) }
    #expect(throws: KeySet.Fault.unreadable) { try KeySet(published: "{}") }
  }

  @Test func `a request has one state, nonce, and challenge per secret`() throws {
    let secret = Secret([UInt8](repeating: 7, count: 32))
    let request = try AuthorizationRequest(secret)
    #expect(Set([request.state, request.nonce, request.verifier.revealedText]).count == 3)
    #expect(try AuthorizationRequest(secret).state == request.state)
    #expect((43...128).contains(request.verifier.count))
    let address = request.address(
      at: "https://id.example.com/authorize?tenant=1", clientID: "a b", redirect: "https://x/y",
      scopes: "openid email", isFresh: true)
    #expect(address.hasPrefix("https://id.example.com/authorize?tenant=1&response_type=code&"))
    #expect(address.contains("client_id=a%20b") && address.contains("scope=openid%20email"))
    #expect(address.hasSuffix("&max_age=0&prompt=login"))
  }

  @Test func `the secret goes to one place`() {
    func request(_ secret: String?, usesBasic: Bool) -> TokenRequest {
      TokenRequest(
        code: "c", redirect: "https://x", verifier: Secret("v"), clientID: "id",
        secret: secret.map { Secret($0) }, usesBasic: usesBasic)
    }
    let basic = request("s:1", usesBasic: true)
    // "id:s%3A1"
    #expect(basic.authorization?.revealedText == "Basic aWQ6cyUzQTE=")
    #expect(!basic.body.revealedText.contains("client_"))
    let post = request("s", usesBasic: false)
    #expect(post.authorization == nil && post.body.revealedText.hasSuffix("client_secret=s"))
    let none = request(nil, usesBasic: true)
    #expect(none.authorization == nil && none.body.revealedText.hasSuffix("client_id=id"))
  }

  @Test func `codes of errors have few characters`() {
    #expect(ProviderErrorCode("access_denied").text == "access_denied")
    #expect(ProviderErrorCode("<b>").text == "unknown")
    #expect(
      ProviderErrorCode(response: Array(#"{"error":"invalid_grant"}"#.utf8))?.text
        == "invalid_grant")
    #expect(ProviderErrorCode(response: Array("x".utf8)) == nil)
  }
}
