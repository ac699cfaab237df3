import HTTPClient
import Testing

@testable import SMTP

struct SMTPServerTests {
  @Test(arguments: [
    ("smtp://mail.example.com", "smtp://mail.example.com:587", nil),
    ("smtps://mail.example.com/", "smtps://mail.example.com:465", nil),
    ("smtp://sam@mail.example.com:2525", "smtp://mail.example.com:2525", "sam"),
    ("smtp://sam@example.com@mail.example.com", "smtp://mail.example.com:587", "sam@example.com"),
    ("smtp://a%3Ab@127.0.0.1:25", "smtp://127.0.0.1:25", "a:b"),
    ("smtp://[::1]:25", "smtp://[::1]:25", nil), ("SMTP://[::1]", "smtp://[::1]:587", nil),
  ])
  func `a server URL is parsed`(text: String, url: String, user: String?) throws {
    let server = try SMTPServer(text)
    #expect(server.url == url)
    #expect(server.user == user)
  }

  @Test(arguments: [
    ("mail.example.com", SMTPServerError.noScheme), ("http://mail.example.com", .noScheme),
    ("smtp://sam:secret@mail.example.com", .hasPassword), ("smtp://", .noServer),
    ("smtp://mail.example.com:0", .noServer), ("smtp://mail.example.com:x", .noServer),
    ("smtp://mail.example.com/path", .noServer), ("smtp://mail example.com", .noServer),
    ("smtp://mail.example.com?x", .noServer), ("smtp://%0d%0a@mail.example.com", .noServer),
    ("smtp://[x]:25", .noServer), ("smtp://@mail.example.com", .noServer),
  ])
  func `an invalid server URL is refused`(text: String, error: SMTPServerError) {
    #expect(throws: error) { try SMTPServer(text) }
  }

  @Test func `only loopback without a CA certificate doesn't need TLS`() throws {
    #expect(try !SMTPServer("smtp://127.0.0.1:25").needsTLS)
    #expect(try !SMTPServer("smtp://localhost").needsTLS)
    #expect(try SMTPServer("smtp://127.0.0.1.example.com").needsTLS)
    #expect(try SMTPServer("smtp://mail.example.com").needsTLS)
    var named = try SMTPServer("smtp://127.0.0.1:25")
    named.authority = "ca.pem"
    #expect(named.needsTLS)
  }

  @Test(arguments: [
    (true, 550, "550 5.1.1 No such user\r\n", SMTPOutcome.refused("550 5.1.1 No such user")),
    (true, 451, "451 4.7.1 Later\r\n", .postponed("451 4.7.1 Later")),
    (true, 554, "something else", .refused("554")),
    (true, 421, "421 Bye", .unreachable("421 Bye")),
    (true, 530, "530 Sign in first", .unreachable("530 Sign in first")),
    (false, 554, "554 Not you", .unreachable("curl")),
  ])
  func `only a reply about the message itself is a refusal`(
    isAboutMail: Bool, reply: Int, line: String, outcome: SMTPOutcome
  ) {
    let failure = MailTransport.Failure(
      reply: reply, line: Array(line.utf8), isAboutMail: isAboutMail, description: "curl")
    #expect(SMTPOutcome(failure) == outcome)
  }

  @Test(arguments: [
    (550, SMTPOutcome.unreachable("550 No")), (553, .unreachable("553 No")),
    (451, .postponed("451 No")), (552, .refused("552 No")),
  ])
  func `a rejected sender concerns all emails, except when one is too large`(
    reply: Int, outcome: SMTPOutcome
  ) {
    let failure = MailTransport.Failure(
      reply: reply, line: Array("\(reply) No".utf8), isAboutMail: true, isAboutSender: true,
      description: "MAIL failed: \(reply)")
    #expect(SMTPOutcome(failure) == outcome)
  }

  @Test func `a connection that's lost after the message means an unreachable server`() {
    let failure = MailTransport.Failure(
      reply: 354, line: [], isAboutMail: true, description: "reset")
    #expect(SMTPOutcome(failure) == .unreachable("reset"))
  }

  @Test func `a server that doesn't reply to one message is tried with others`() {
    let failure = MailTransport.Failure.unanswered(within: 600)
    #expect(SMTPOutcome(failure) == .postponed("no reply to the message within 600 seconds"))
  }

  @Test func `a closed port is reported as unreachable`() async throws {
    let client = SMTPClient(try SMTPServer("smtp://127.0.0.1:1"))
    let mail = try Mail(
      sender: try #require(MailAddress("a@b.c")), senderName: nil,
      recipient: try #require(MailAddress("d@e.f")),
      subject: "s", body: "b", language: "en", date: 0, id: "1")
    guard case .unreachable = await client.send(mail) else {
      Issue.record("the message was sent to a closed port")
      return
    }
    await client.rest()
  }
}
