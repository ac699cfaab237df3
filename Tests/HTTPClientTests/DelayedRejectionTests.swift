import Testing

@testable import HTTPClient

/// Rejections of the sender that a mail server reports for the recipient.
struct DelayedRejectionTests {
  private static let sender = "mfa@example.com"
  private static let recipient = "sam@example.org"

  @Test(arguments: [
    ("553 5.7.1 <mfa@example.com>: Sender address rejected: not owned by user sam", true),
    ("553-5.7.1 <MFA@Example.com>: rejected\r\n553 5.7.1 See the help\r\n", true),
    ("550 mfa@example.com isn't a sender here", true), ("550 No mail from mfa@example.com.", true),
    ("550 5.7.1 'mfa@example.com' rejected", true), ("550 from=mfa@example.com", true),
    ("550 5.1.8 Sender address rejected: Domain not found", true),
    ("553 5.1.7 Invalid address\r\n", true), ("550-5.1.7 Invalid address\r\n550 Bye", true),
    ("550 5.1.1 <sam@example.org>: Recipient address rejected", false),
    ("550 5.7.1 <sam@example.org>: no mail from <mfa@example.com>", false),
    ("550 5.7.1 Rejected", false), ("550", false), ("", false),
    ("550 5.1.70 Rejected", false), ("550 See 5.1.8", false),
    // A part of another address.
    ("550 <no.mfa@example.com>: rejected", false), ("550 <mfa@example.com.au>: rejected", false),
    ("550 <a+mfa@example.com>: rejected", false), ("550 <mfa@example.community>", false),
    ("550 <émfa@example.com>", false),
  ])
  func `a reply is about the sender if it quotes that address only, or has its code`(
    reply: String, isAboutSender: Bool
  ) {
    let found = DelayedRejection.isAboutSender(
      Array(reply.utf8), sender: Self.sender, recipient: Self.recipient)
    #expect(found == isAboutSender)
  }

  @Test func `a reply about an address that's both is about the recipient`() {
    for reply in ["550 5.1.1 <mfa@example.com>: No such user", "550 5.1.8 No such domain"] {
      #expect(
        !DelayedRejection.isAboutSender(
          Array(reply.utf8), sender: Self.sender, recipient: "MFA@example.com"))
    }
  }

  @Test(arguments: [
    ("553 5.7.1 <mfa@example.com>: Sender address rejected: not owned by user", true),
    ("553-5.7.1 <mfa@example.com>: Sender address rejected\r\n553 5.7.1 Ask for it", true),
    ("550 5.1.1 <sam@example.org>: Recipient address rejected", false),
  ])
  func `a server that rejects the sender only when it knows the recipient is understood`(
    reply: String, isAboutSender: Bool
  ) throws {
    let receiver = try LocalReceiver()
    receiver.takeMail(replyToRecipient: reply)
    let transport = MailTransport(
      .init(
        url: "smtp://127.0.0.1:\(receiver.port)", user: nil, password: nil, authority: nil,
        needsTLS: false), connectSeconds: 10, sendSeconds: 20, replySeconds: 20)
    let failure = #expect(throws: MailTransport.Failure.self) {
      try transport.send(
        Array("Subject: Hi\r\n\r\nHi\r\n".utf8), from: Self.sender, to: Self.recipient)
    }
    #expect(failure?.isAboutMail == true && failure?.isAboutSender == isAboutSender)
    #expect(failure?.reply == Int(reply.prefix(3)))
  }
}
