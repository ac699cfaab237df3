import Crypto
import Identity
import Testing

@testable import TestIdentity

struct APIKeyTests {
  @Test func `a key identifies its project only`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.apiKeys
      let acme = try #require(try await keys.list(instance.acme.project).first)
      let globex = try #require(try await keys.list(instance.globex.project).first)
      #expect(acme.text.wholeMatch(of: /AIza[A-Za-z0-9_-]{35}/) != nil)
      #expect(acme.text != globex.text)
      #expect(try await keys.project(for: acme.text) == instance.acme.project)
      #expect(try await keys.project(for: globex.text) == instance.globex.project)
      for other in ["", acme.text.lowercased(), acme.text + "x", "%", "AIza"] {
        #expect(try await keys.project(for: other) == nil)
      }
    }
  }
}

struct SigningKeyTests {
  @Test func `a signature verifies only with its key and message`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let id = try keys.currentID()
      let message = Array("header.payload".utf8)
      let signature = try keys.sign(message, keyID: id)
      #expect(keys.verify(message, signature: signature, keyID: id))
      #expect(!keys.verify(message + [0], signature: signature, keyID: id))
      #expect(!keys.verify(message, signature: signature, keyID: "other"))
      #expect(!keys.verify(message, signature: [], keyID: id))
      await expect("unavailable") { try keys.sign(message, keyID: "other") }
      let publicKey = try #require(keys.publicKeys().first)
      #expect(publicKey.id == id)
      #expect((publicKey.modulus.count, publicKey.exponent) == (256, [1, 0, 1]))
      #expect(publicKey.certificatePEM.hasPrefix("-----BEGIN CERTIFICATE-----"))
    }
  }

  @Test func `keys survive a restart and aren't available before startup`() async throws {
    try await withInstance { instance in
      let again = try instance.identity()
      await expect("unavailable") { try again.signingKeys.currentID() }
      try await again.prepare()
      let id = try instance.identity.signingKeys.currentID()
      #expect(try again.signingKeys.currentID() == id)
      let signature = try again.signingKeys.sign([1], keyID: id)
      #expect(instance.identity.signingKeys.verify([1], signature: signature, keyID: id))
    }
  }
}
