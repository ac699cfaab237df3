import Crypto
import Testing

struct PublicKeyTests {
  private static let payload =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

  private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text)) }

  /// RFC 7515, appendix A.2.
  @Test func `RS256 verifies the test vector of RFC 7515`() throws {
    let key = try PublicKey(
      modulus: bytes(
        "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
      ), exponent: bytes("AQAB"))
    #expect(key.algorithm == .rs256)
    #expect(try key.numbers().modulus.count == 256)
    let signature = try bytes(
      "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
    )
    let message = Array("eyJhbGciOiJSUzI1NiJ9.\(Self.payload)".utf8)
    #expect(key.verify(signature, of: message))
    #expect(!key.verify(signature, of: message + [0x20]))
    #expect(!key.verify(Array(signature.dropLast()), of: message))
    #expect(!key.verify([], of: message))
    let same = try PublicKey(der: key.der())
    #expect(try same.numbers() == key.numbers())
    #expect(throws: CryptoError.self) { try key.point() }
  }

  /// RFC 7515, appendix A.3.
  @Test func `ES256 verifies the test vector of RFC 7515`() throws {
    let key = try PublicKey(
      x: bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
      y: bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"))
    #expect(key.algorithm == .es256)
    let signature = try bytes(
      "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
    let message = Array("eyJhbGciOiJFUzI1NiJ9.\(Self.payload)".utf8)
    #expect(key.verify(signature, of: message))
    #expect(!key.verify(signature, of: message + [0x20]))
    // Some verifiers accepted a signature of zeros for any message (CVE-2022-21449).
    #expect(!key.verify([UInt8](repeating: 0, count: 64), of: message))
    #expect(!key.verify(signature + [0], of: message))
    let same = try PublicKey(der: key.der())
    #expect(try same.point() == key.point())
    #expect(throws: CryptoError.self) { try key.numbers() }
  }

  @Test func `a certificate has the same public key as its key pair`() throws {
    let pair = try RSAKey.generate()
    let numbers = try pair.publicNumbers()
    let key = try PublicKey(modulus: [0] + numbers.modulus, exponent: numbers.exponent)
    let certificate = try PublicKey(
      pem: pair.certificatePEM(commonName: "signer", serial: 1, from: 0, until: 1_000_000_000))
    #expect(try key.der() == certificate.der())
    let message = Array("a message".utf8)
    #expect(certificate.verify(try pair.sign(message), of: message))
  }

  @Test func `PKCS #1 RSA public keys are accepted`() throws {
    let key = try PublicKey(
      pem: """
        -----BEGIN RSA PUBLIC KEY-----
        MIIBCgKCAQEA1ndO1g7qhQ3h6hT5Hqtd4MbcNpbkbIpopy8M6gblUyKsC4VhBJcC
        y58GPO4R/FNjScrEiBy53WipXfMC6uVG86F4A7end9wuFEO8zGMmP0bQJUjAf+jf
        aHsBSeHa3TnsKVNc0m8Zc8wyn2ppmnUm9euuNO0JAzkCWgvqSWLRU2/w8+T82C1B
        LrvcNVMNzHsUD+Ld4Y68mqXvCegT4C7NDSS6WgFDJffv6qW0caT7WWcQl/dBZ3Zg
        OQHwEJ0kiESkDIClyqChOpeCCX/zIIyPeea7JNYTYfwYFeaTWZ0Di6gh4ALzpw5o
        B7XT5PaDzQo9e2xlA4IQArSg9usORTNDqQIDAQAB
        -----END RSA PUBLIC KEY-----
        """)
    #expect(key.algorithm == .rs256)
  }

  @Test(
    arguments: [
      ("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", .isPrivate),
      ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", .isPrivate),
      ("", .unreadable), ("no key", .unreadable),
      ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", .unreadable),
      ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .unreadable),
      (String(repeating: "-----BEGIN PUBLIC KEY-----\n", count: 1_000), .unreadable),
      (
        """
        -----BEGIN PUBLIC KEY-----
        MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDQpJpnF13QMd2TBdjM1dgTYcHq
        24lzE46T2WtOyxeFhGkVtRj5IsaPb4ToSHIuIqGjdrD7Mhf0X9dy02xHrJS8BYUD
        MGICbxOyztfu7Ou0c0v+pSm1fauPYk48Uv5v4rKYLT/earUkPbyutdobfCyHTWIf
        uGnSBHsvsjjY2O5wSwIDAQAB
        -----END PUBLIC KEY-----
        """, .unusable
      ),
      (
        """
        -----BEGIN PUBLIC KEY-----
        MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEG5P5QQHZyZw9pISJGBaekC94cFtmNuFo
        PnV2NdthFewE9WRQlgmQGspaW6JLkJ0AhMg/nYV5MRs0Cm3CuQ2hZUN8KXMS0sTA
        YmqDBBouQsGzcgE+I66YGAhawIbH1TVa
        -----END PUBLIC KEY-----
        """, .otherKind
      ),
      (
        """
        -----BEGIN PUBLIC KEY-----
        MCowBQYDK2VwAyEALzZIuMjkDPANdPlyClnCc3hE5qlsQKJB27mLcL6/0QE=
        -----END PUBLIC KEY-----
        """, .otherKind
      ),
    ] as [(String, PublicKey.Fault)])
  func `unusable keys are refused`(pem: String, fault: PublicKey.Fault) {
    #expect(throws: fault) { try PublicKey(pem: pem) }
  }

  @Test func `invalid key parameters are refused`() throws {
    let numbers = try RSAKey.generate().publicNumbers()
    #expect(throws: PublicKey.Fault.unusable) {
      try PublicKey(modulus: numbers.modulus, exponent: [1])
    }
    #expect(throws: PublicKey.Fault.unusable) {
      try PublicKey(modulus: numbers.modulus, exponent: [4])
    }
    #expect(throws: PublicKey.Fault.unusable) {
      try PublicKey(modulus: numbers.modulus, exponent: [UInt8](repeating: 255, count: 9))
    }
    #expect(throws: PublicKey.Fault.unusable) {
      try PublicKey(modulus: [UInt8](repeating: 255, count: 2_000), exponent: [1, 0, 1])
    }
    #expect(throws: PublicKey.Fault.self) { try PublicKey(modulus: [], exponent: [1, 0, 1]) }
    // A point that isn't on the curve.
    #expect(throws: PublicKey.Fault.unreadable) {
      try PublicKey(x: [UInt8](repeating: 1, count: 32), y: [UInt8](repeating: 1, count: 32))
    }
    #expect(throws: PublicKey.Fault.unreadable) { try PublicKey(x: [1], y: [1]) }
  }
}
