import Crypto
import OTP
import Testing

@Suite struct TextFormTests {
  /// RFC 4648, section 10, without padding.
  @Test(arguments: [
    ("", ""), ("f", "MY"), ("fo", "MZXQ"), ("foo", "MZXW6"), ("foob", "MZXW6YQ"),
    ("fooba", "MZXW6YTB"), ("foobar", "MZXW6YTBOI"),
  ])
  func `base32 encodes and decodes the test vectors of RFC 4648`(plain: String, text: String) {
    #expect(Base32.encode(Array(plain.utf8)) == text)
    #expect(Base32.decode(text) == Array(plain.utf8))
  }

  @Test(arguments: [
    "mzxw 6ytb oi", "MZXW-6YTB-OI======", "mzxw6ytboi=", "mzxw\t6ytb\n\u{A0}oi\r\n", "mzxw6ytboj",
    "mzxw6ytbol",
  ])
  func `base32 is decoded as users type it`(text: String) {
    #expect(Base32.decode(text) == Array("foobar".utf8))
  }

  @Test(arguments: ["MZXW6YTB0I", "MZXW6YTBO1", "M", "MZX", "MZXW6Y", "MY=A", "é", "MY\u{200B}"])
  func `invalid base32 is refused`(text: String) {
    #expect(Base32.decode(text) == nil)
  }

  @Test func `the otpauth URI has the percent-encoded label, issuer, and secret`() throws {
    let secret = try #require(Base32.decode("GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"))
    let password = try #require(OneTimePassword(secret: Secret(secret)))
    let uri = OTPAuthURI(password: password, issuer: "Acme: A&Söhne", account: "a:b@example.com")
    #expect(
      uri.text.revealedText
        == "otpauth://totp/Acme%20A%26S%C3%B6hne:a%3Ab%40example.com"
        + "?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme%20A%26S%C3%B6hne"
        + "&algorithm=SHA1&digits=6&period=30")
  }
}
