import Foundation
import Testing

@testable import SMTP

struct MailTests {
  private func mail(
    subject: String = "Hello", name: String? = nil, body: String = "Text\n", id: String = "7.1000"
  ) throws -> String {
    let mail = try Mail(
      sender: try #require(MailAddress("accounts@example.com")), senderName: name,
      recipient: try #require(MailAddress("sam@example.com")), subject: subject, body: body,
      language: "en", date: 1_795_183_500, id: id)
    return String(decoding: mail.message, as: UTF8.self)
  }

  @Test func `a message has headers, an empty line, and a body`() throws {
    #expect(
      try mail(name: "Acme Retail") == """
        Date: Fri, 20 Nov 2026 14:05:00 +0000\r
        From: "Acme Retail"\r
         <accounts@example.com>\r
        To: <sam@example.com>\r
        Message-ID: <7.1000@example.com>\r
        Subject: Hello\r
        Auto-Submitted: auto-generated\r
        Content-Language: en\r
        MIME-Version: 1.0\r
        Content-Type: text/plain; charset=utf-8\r
        Content-Transfer-Encoding: quoted-printable\r
        \r
        Text\r

        """)
  }

  @Test func `an email with HTML has both parts, the HTML last`() throws {
    let mail = try Mail(
      sender: try #require(MailAddress("accounts@example.com")), senderName: nil,
      replyTo: MailAddress("help@example.com"),
      recipient: try #require(MailAddress("sam@example.com")), subject: "Hello",
      body: "Text\n", html: "<p a=\"é\">Text</p>\n", language: "en", date: 0, id: "1.2")
    #expect(
      String(decoding: mail.message, as: UTF8.self) == """
        Date: Thu, 01 Jan 1970 00:00:00 +0000\r
        From: <accounts@example.com>\r
        Reply-To: <help@example.com>\r
        To: <sam@example.com>\r
        Message-ID: <1.2@example.com>\r
        Subject: Hello\r
        Auto-Submitted: auto-generated\r
        Content-Language: en\r
        MIME-Version: 1.0\r
        Content-Type: multipart/alternative;\r
         boundary="=_1.2"\r
        \r
        --=_1.2\r
        Content-Type: text/plain; charset=utf-8\r
        Content-Transfer-Encoding: quoted-printable\r
        \r
        Text\r
        \r
        --=_1.2\r
        Content-Type: text/html; charset=utf-8\r
        Content-Transfer-Encoding: quoted-printable\r
        \r
        <p a=3D"=C3=A9">Text</p>\r
        \r
        --=_1.2--\r

        """)
  }

  @Test(arguments: [
    ("anna@exämple.de", "anna@xn--exmple-cua.de"), ("Anna@EXÄMPLE.de", "Anna@xn--exmple-cua.de"),
    ("änna@faß.de", "änna@xn--fa-hia.de"), ("änna@example.com", "änna@example.com"),
    ("anna@Example.com", "anna@Example.com"), ("a.b+c@例え.jp", "a.b+c@xn--r8jz45g.jp"),
    // No host names.
    ("anna@-ä.de", "anna@-ä.de"), ("anna@ä..de", "anna@ä..de"), ("anna@ä%2f.de", "anna@ä%2f.de"),
  ])
  func `an internationalized domain is sent as A-labels`(text: String, encoded: String) throws {
    let address = try #require(MailAddress(text))
    #expect(address.encoded == encoded)
    let mail = try Mail(
      sender: address, senderName: nil, replyTo: address, recipient: address, subject: "Hello",
      body: "Text\n", language: "en", date: 0, id: "1.2")
    let message = String(decoding: mail.message, as: UTF8.self)
    for field in ["From", "Reply-To", "To"] {
      #expect(message.contains("\r\n\(field): <\(encoded)>\r\n"))
    }
    #expect(message.contains("<1.2@\(address.encodedDomain)>"))
  }

  @Test func `no text ends its part`() throws {
    let mail = try Mail(
      sender: try #require(MailAddress("accounts@example.com")), senderName: nil,
      recipient: try #require(MailAddress("sam@example.com")), subject: "Hello",
      body: "a\n--=_1.2--\nb\n", html: "--=_1.2", language: "en", date: 0, id: "1.2")
    let text = String(decoding: mail.message, as: UTF8.self)
    #expect(text.components(separatedBy: "--=_1.2").count == 4)
  }

  @Test(arguments: [
    "Hello\r\nBcc: mallory@example.net", "Hello\nX: y", "Hello\rX: y", "Hello\u{0}", "a\u{2028}b",
    "a\u{85}b",
  ])
  func `a line break in a subject or name is refused`(text: String) {
    #expect(throws: MailError.invalidField("Subject")) { try mail(subject: text) }
    #expect(throws: MailError.invalidField("From")) { try mail(name: text) }
  }

  @Test(arguments: ["", "7>\r\nX: y", "7 1", "7@x"])
  func `an ID with invalid characters is refused`(id: String) {
    #expect(throws: MailError.invalidField("Message-ID")) { try mail(id: id) }
  }

  @Test(arguments: [
    "", "sam", "@example.com", "sam@", "sam@example.com\r\nRCPT TO:<x@y>", "sam@ex ample.com",
    "<sam@example.com>", "sam@example.com>", "a,b@example.com", "\"a\"@example.com",
    "sam@mallory@example.com", "sam@[127.0.0.1]", String(repeating: "a", count: 320) + "@b.c",
  ])
  func `an invalid address is refused`(text: String) {
    #expect(MailAddress(text) == nil)
  }

  @Test(arguments: ["sam@example.com", "sam+tag@example.com", "sàm@exämple.com", "a@b"])
  func `a valid address is accepted`(text: String) {
    #expect(MailAddress(text)?.text == text)
  }

  @Test(arguments: [
    "Für dich: 日本語 — 🙂", String(repeating: "long ", count: 60), "=?UTF-8?B?eA==?=",
    String(repeating: "🙂", count: 100), "\u{202E}edoc",
  ])
  func `a long or non-ASCII subject is encoded in words of up to 75 characters`(
    subject: String
  ) throws {
    let line = MailText.line(subject)
    let words = line.components(separatedBy: "\r\n ")
    var decoded = ""
    for word in words {
      #expect(word.utf8.count <= 75)
      // With the name of the field, the first line has at most 76.
      #expect("Subject: \(words[0])".utf8.count <= 76)
      #expect(word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="))
      let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
      decoded += try #require(String(data: data, encoding: .utf8))
    }
    #expect(decoded == subject)
  }

  @Test func `quotes in a name are escaped`() {
    #expect(MailText.phrase(#"Sam "the \ man""#) == #""Sam \"the \\ man\"""#)
  }

  @Test(arguments: [
    ("a=b", "a=3Db\r\n"), ("é", "=C3=A9\r\n"), ("blank \nnext\t", "blank=20\r\nnext=09\r\n"),
    ("one\r\ntwo\rthree\n", "one\r\ntwo\r\nthree\r\n"), ("", ""), ("\n\na", "\r\n\r\na\r\n"),
    (".\n..", ".\r\n..\r\n"), ("bell\u{7}", "bell=07\r\n"),
  ])
  func `a body is encoded as quoted-printable`(text: String, expected: String) {
    #expect(String(decoding: MailText.quotedPrintable(text), as: UTF8.self) == expected)
  }

  @Test(arguments: [
    String(repeating: "x", count: 4_000), String(repeating: "🙂", count: 1_000),
    String(repeating: "=", count: 500),
  ])
  func `no line is longer than 76 characters`(text: String) {
    let lines = String(decoding: MailText.quotedPrintable(text), as: UTF8.self)
      .components(separatedBy: "\r\n")
    #expect(lines.allSatisfy { $0.utf8.count <= 76 })
    let joined = lines.dropLast().map { $0.hasSuffix("=") ? String($0.dropLast()) : $0 }.joined()
    #expect(joined.removingPercentEncoding == nil || joined.count >= text.count)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 +0000"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 +0000"),
    (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 +0000"),
  ])
  func `dates are in email format`(seconds: Int64, text: String) {
    #expect(MailText.date(seconds) == text)
  }
}
