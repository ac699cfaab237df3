import Crypto
import Identity
import OpenIDConnect
import Testing

@testable import TestIdentity

struct KeySetTests {
  @Test func `a key set, a single key, certificates by ID, and PEM are parsed`() throws {
    let text = try TestTokenIssuer.back.keySet(id: "a")
    let set = try KeySet(text)
    #expect(set.names == ["a"])
    // A single key without the enclosing set.
    #expect(try KeySet(String(text.dropFirst(9).dropLast(2))) == set)
    let pem = try KeySet(TestTokenIssuer.back.pem() + "\n" + TestTokenIssuer.other.pem())
    #expect(pem.count == 2)
    #expect(pem.names.allSatisfy { $0.count == 16 })
    let certificate = try TestTokenIssuer.back.key.certificatePEM(
      commonName: "x", serial: 1, from: 0, until: 1
    ).split(separator: "\n").joined(separator: "\\n")
    #expect(try KeySet(#"{"old_key":"\#(certificate)"}"#).names == ["old_key"])
    #expect(try KeySet("  \n").count == 0)
    #expect(KeySet().text == "")
    // The written form is parsed as the same set.
    for written in [set, pem] { #expect(try KeySet(written.text) == written) }
  }

  @Test func `keys for other uses or algorithms are ignored`() throws {
    let usable = try TestTokenIssuer.back.keySet().dropFirst(9).dropLast(2)
    let text = """
      {"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"},{"kty":"RSA","use":"enc","n":"AA","e":"AQAB"},
      {"kty":"RSA","alg":"RS512","n":"AA","e":"AQAB"},{"kty":"EC","crv":"P-384","x":"AA","y":"AA"},
      \(usable)]}
      """
    #expect(try KeySet(text).names == ["k1"])
  }

  @Test(
    arguments: [
      ("nonsense", .unreadable), ("{", .unreadable), (#"{"keys":{}}"#, .unreadable),
      (#"{"keys":[7]}"#, .unreadable), (#"{"keys":[]}"#, .noKey), (#"{"a":"b"}"#, .unreadable),
      (#"{"keys":[{"kty":"RSA","n":7,"e":"AQAB"}]}"#, .unreadable),
      (#"{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB"}]}"#, .isPrivate),
      (#"{"keys":[{"kty":"oct","k":"AQAB"}]}"#, .isPrivate),
      (#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}"#, .noKey),
      ("-----BEGIN RSA PRIVATE KEY-----\nAA\n-----END RSA PRIVATE KEY-----", .isPrivate),
      ("-----BEGIN PUBLIC KEY-----", .unreadable),
      (String(repeating: "x", count: 70_000), .tooMany),
      (
        #"{"keys":[{"kty":"RSA","n":"\#(String(repeating: "_", count: 172))","e":"AQAB"}]}"#,
        .unusable
      ),
    ] as [(String, KeySet.Fault)])
  func `an invalid key set is rejected`(text: String, fault: KeySet.Fault) {
    #expect(throws: fault) { try KeySet(text) }
  }
}
