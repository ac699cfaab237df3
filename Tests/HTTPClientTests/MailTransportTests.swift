import Dispatch
import Foundation
import Glibc
import Synchronization
import Testing

@testable import HTTPClient

/// Tests of slow replies, with a mail server on this machine.
@Suite(.timeLimit(.minutes(1)))
struct MailTransportTests {
  /// Starts a mail server that receives one email.
  ///
  /// - Parameters:
  ///   - slow: The command whose reply it delays; `.` for the end of the email.
  ///   - seconds: How long it delays it.
  ///   - extension: What it offers.
  ///   - seen: Is called with each command.
  /// - Returns: The server.
  /// - Throws: When this machine has no free port.
  private func server(
    slow: String = "none", seconds: UInt32 = 0, offering extension: String = "8BITMIME",
    seen: @escaping @Sendable (String) -> Void = { _ in }
  ) throws -> LocalReceiver {
    let receiver = try LocalReceiver()
    // A thread for itself, since others wait in those of a queue.
    Thread.detachNewThread {
      let socket = receiver.accepted()
      defer { close(socket) }
      func reply(_ text: String) {
        let bytes = Array("\(text)\r\n".utf8)
        _ = unsafe send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      }
      reply("220 test")
      var (lines, isMessage) = ([UInt8](), false)
      var part = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = unsafe recv(socket, &part, part.count, 0)
        guard count > 0 else { return }
        lines += part[..<count]
        while let end = lines.firstRange(of: Array("\r\n".utf8)) {
          let line = String(decoding: lines[..<end.lowerBound], as: UTF8.self)
          lines.removeFirst(end.upperBound)
          guard !isMessage || line == "." else { continue }
          seen(line)
          if line.hasPrefix(slow) { sleep(seconds) }
          isMessage = line == "DATA"
          if line.hasPrefix("EHLO") { reply("250-test") }
          reply(
            isMessage ? "354 go on" : line.hasPrefix("EHLO") ? "250 \(`extension`)" : "250 OK")
        }
      }
    }
    return receiver
  }

  private func transport(_ receiver: LocalReceiver, reply: Int) -> MailTransport {
    MailTransport(
      .init(
        url: "smtp://127.0.0.1:\(receiver.port)", user: nil, password: nil, authority: nil,
        needsTLS: false), connectSeconds: 15, sendSeconds: 2, replySeconds: reply)
  }

  private func deliver(
    to transport: MailTransport, for recipient: String = "b@example.com"
  ) throws(MailTransport.Failure) {
    try transport.send(
      Array("Subject: s\r\n\r\nText\r\n".utf8), from: "a@example.com", to: recipient)
  }

  @Test func `a non-ASCII recipient is only sent to a server with SMTPUTF8`() throws {
    let able = transport(try server(offering: "SMTPUTF8"), reply: 30)
    // The second one on the same connection, without a greeting.
    for recipient in ["zo\u{EB}@example.com", "zo\u{EB}@example.org"] {
      try deliver(to: able, for: recipient)
    }
    // On a connection that sent another email, and as the first one.
    for others in [1, 0] {
      let recipients = Mutex([String]())
      let unable = try server { line in
        if line.hasPrefix("RCPT") { recipients.withLock { $0.append(line) } }
      }
      let other = transport(unable, reply: 30)
      for _ in 0..<others { try deliver(to: other) }
      let failure = #expect(throws: MailTransport.Failure.self) {
        try deliver(to: other, for: "zo\u{EB}@example.com")
      }
      #expect(failure?.reply == 550 && failure?.isAboutMail == true)
      let seen = recipients.withLock { $0 }
      #expect(seen.count == others && seen.allSatisfy { $0.utf8.allSatisfy { $0 < 128 } })
    }
  }

  @Test func `a server may take longer to reply to a whole email than to anything before it`()
    throws
  {
    let receiver = try server(slow: ".", seconds: 4)
    let transport = transport(receiver, reply: 30)
    #expect(!transport.hasWaited(seconds: 0))
    let sampled = DispatchSemaphore(value: 0)
    DispatchQueue.global().async {
      while !transport.hasWaited(seconds: 1) { usleep(10_000) }
      sampled.signal()
    }
    try deliver(to: transport)
    sampled.wait()
    #expect(!transport.hasWaited(seconds: 0))
  }

  @Test func `a server that doesn't reply to a whole email in time has it`() throws {
    let receiver = try server(slow: ".", seconds: 20)
    let failure = #expect(throws: MailTransport.Failure.self) {
      try deliver(to: transport(receiver, reply: 1))
    }
    #expect(failure?.isUnanswered == true && failure?.isAboutMail == true)
  }

  @Test(arguments: ["EHLO", "MAIL", "RCPT", "DATA"])
  func `every other reply has the time of the whole transfer`(command: String) throws {
    let receiver = try server(slow: command, seconds: 20)
    let start = ContinuousClock.now
    let failure = #expect(throws: MailTransport.Failure.self) {
      try deliver(to: transport(receiver, reply: 30))
    }
    #expect(failure?.isUnanswered == false)
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `a transfer that's hurried doesn't wait for the reply`() throws {
    let receiver = try server(slow: ".", seconds: 20)
    let transport = transport(receiver, reply: 30)
    DispatchQueue.global().async {
      while !transport.hasWaited(seconds: 0) { usleep(10_000) }
      transport.hurry(seconds: 1)
    }
    let start = ContinuousClock.now
    #expect(throws: MailTransport.Failure.self) { try deliver(to: transport) }
    #expect(ContinuousClock.now - start < .seconds(10))
  }
}
