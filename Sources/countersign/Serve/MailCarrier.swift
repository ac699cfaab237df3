import Crypto
import Foundation
import Identity
import Localization
import Metrics
import SMTP
import Synchronization

struct MailCarrier: Carrier {
  private let configuration: MailConfiguration
  private let clients: SMTPClients

  init(_ configuration: MailConfiguration) {
    self.configuration = configuration
    clients = SMTPClients(configuration.server)
  }

  var channel: OutboxEntry.Channel { .mail }

  var server: String { configuration.server.url }

  var mostAtOnce: Int { clients.mostAtOnce }

  var lease: Int64 { Deliveries.lease }

  func rest() async { await clients.rest() }

  func hurry(seconds: Int) { clients.hurry(seconds: seconds) }

  func send(_ message: DueMessage) async -> DeliveryAttempt {
    guard let recipient = MailAddress(message.recipient) else {
      return .recorded(.invalidRecipient)
    }
    let mail: Mail
    do throws(MailError) {
      mail = try Mail(
        sender: configuration.sender,
        senderName: message.senderName ?? configuration.senderName
          ?? SafeName.oneLine(message.application),
        replyTo: message.replyTo.flatMap { MailAddress($0) }, recipient: recipient,
        subject: message.subject, body: message.body, html: message.html,
        language: message.language, date: message.createdAt.seconds, id: message.id)
    } catch {
      switch error {
      case .invalidField(let name): return .recorded(.invalidField(name))
      }
    }
    return switch await clients.send(mail) {
    case .accepted: .recorded(.sent)
    case .refused(let reason): .recorded(.failed(reason))
    case .postponed(let reason): .recorded(.postponed(reason))
    case .unreachable(let reason): .isDown(reason)
    }
  }
}

/// Connections to a mail server: one, and others for the emails after one to which the server takes
/// long to reply.
final class SMTPClients: Sendable {
  private let all: [SMTPClient]
  private let loads: Mutex<Loads>

  /// The number of emails that each connection is sending or will send next.
  struct Loads {
    private var counts: [Int]

    init(connections: Int) { counts = Array(repeating: 0, count: connections) }

    /// Adds an email to the first connection with the fewest, and returns its position.
    mutating func add() -> Int {
      var position = 0
      for other in counts.indices where counts[other] < counts[position] { position = other }
      counts[position] += 1
      return position
    }

    mutating func remove(_ position: Int) { counts[position] -= 1 }
  }

  /// The maximum number of connections.
  private static let most = 4
  /// How long the server may take to reply to an email until the next ones don't wait for it any
  /// longer, in seconds.
  private static let patience = 5

  init(_ server: SMTPServer) {
    all = (0..<Self.most).map { _ in SMTPClient(server) }
    loads = Mutex(Loads(connections: Self.most))
  }

  var mostAtOnce: Int {
    min(1 + all.count { $0.hasWaited(seconds: Self.patience) }, Self.most)
  }

  func send(_ mail: Mail) async -> SMTPOutcome {
    let position = loads.withLock { $0.add() }
    defer { loads.withLock { $0.remove(position) } }
    return await all[position].send(mail)
  }

  func rest() async {
    for client in all { await client.rest() }
  }

  func hurry(seconds: Int) {
    for client in all { client.hurry(seconds: seconds) }
  }
}

/// The results of attempts to send emails, or text messages, since the start.
final class MailHealth: Sendable {
  enum Attempt: String, CaseIterable, Sendable {
    case sent
    case rejected
    /// It's retried later.
    case postponed
    case unreachable
  }

  private struct State {
    var isPaused = false
    var lastFailure: Instant?
  }

  private let attempts = Counters()
  private let state = Mutex(State())

  var isPaused: Bool { state.withLock(\.isPaused) }

  var lastFailure: Instant? { state.withLock(\.lastFailure) }

  func record(_ attempt: Attempt, at now: Instant) {
    if let index = Attempt.allCases.firstIndex(of: attempt) { attempts.add(index) }
    state.withLock { state in
      state.isPaused = attempt == .unreachable
      if attempt != .sent { state.lastFailure = now }
    }
  }

  func count(_ attempt: Attempt) -> Int {
    Attempt.allCases.firstIndex(of: attempt).map(attempts.value) ?? 0
  }
}

extension MailHealth.Attempt {
  init(_ attempt: DeliveryAttempt) {
    self =
      switch attempt {
      case .recorded(.sent): .sent
      case .recorded(.postponed): .postponed
      case .recorded: .rejected
      case .isDown: .unreachable
      }
  }
}

struct MailConfiguration: Sendable {
  let server: SMTPServer
  let sender: MailAddress
  /// The sender's display name; nil for the name of the application.
  let senderName: String?

  /// The environment variable with the password; other users can read command lines.
  private static let passwordVariable = "COUNTERSIGN_SMTP_PASSWORD"

  static let options = [
    Option(
      "smtp", "URL",
      help: Message(
        """
        SMTP server for emails to users: smtp://user@host:port (STARTTLS) or smtps://…. Without \
        it, emails are queued and can be read in the console. The password comes from {variable} \
        or --smtp-password-file.
        """, ["variable": .text(passwordVariable)])),
    Option(
      "smtp-from", "ADDRESS",
      help: Message("Sender of emails: an address, or \"Name <address>\".")),
    Option(
      "smtp-password-file", "FILE",
      help: Message("File with the SMTP password on its first line.")),
    Option(
      "smtp-ca", "FILE",
      help: Message("CA certificates (PEM) to trust for the SMTP server (default: the system's).")),
  ]

  init?(
    _ arguments: Arguments, environment: [String: String], problems: inout ConfigurationProblems
  ) {
    let dependent = ["smtp-from", "smtp-password-file", "smtp-ca"]
    guard let url = arguments.value("smtp") else {
      for name in dependent where arguments.has(name) {
        problems.append(Message("--{name} requires --smtp.", ["name": .text(name)]), of: name)
      }
      return nil
    }
    let known = problems.count
    var server: SMTPServer?
    do { server = try SMTPServer(url) } catch {
      problems.append(Self.message(error), of: "smtp")
    }
    let sender = Self.sender(arguments.value("smtp-from"), &problems)
    if let file = arguments.value("smtp-ca") {
      if let problem = TLSFiles.problem(ofAuthorities: file, option: "smtp-ca") {
        problems.append(problem, of: "smtp-ca")
      } else {
        server?.authority = file
      }
    }
    let password = SecretFile(
      option: "smtp-password-file", variable: Self.passwordVariable
    ).read(arguments, environment, &problems)
    if let named = server, named.user != nil, password == nil, problems.count == known {
      problems.append(
        Message(
          "--smtp has a user name. Set the password in {variable} or --smtp-password-file.",
          ["variable": .text(Self.passwordVariable)]),
        of: "smtp")
    }
    if server?.user != nil { server?.password = password }
    guard let server, let sender, problems.count == known else { return nil }
    self.server = server
    (self.sender, senderName) = sender
  }

  private static func sender(
    _ text: String?, _ problems: inout ConfigurationProblems
  ) -> (MailAddress, String?)? {
    guard let text else {
      problems.append(Message("--smtp requires --smtp-from, the sender's address."), of: "smtp")
      return nil
    }
    var (name, address) = ("", Substring(text))
    if text.hasSuffix(">"), let begin = text.lastIndex(of: "<") {
      name = text[..<begin].trimmingCharacters(in: .whitespaces)
      if name.count > 1, name.hasPrefix("\""), name.hasSuffix("\"") {
        name = String(name.dropFirst().dropLast())
      }
      address = text[text.index(after: begin)...].dropLast()
    }
    guard let sender = MailAddress(String(address)),
      SafeName.isOneLine(name)
    else {
      problems.append(
        Message(
          "--smtp-from must be an address such as accounts@example.com, or \"Name <address>\"."),
        of: "smtp-from")
      return nil
    }
    return (sender, name.isEmpty ? nil : name)
  }

  private static func message(_ error: SMTPServerError) -> Message {
    switch error {
    case .noScheme: Message("--smtp must begin with smtp:// or smtps://.")
    case .hasPassword:
      Message(
        """
        --smtp must not contain the password, since other users of this machine could read it. \
        Use {variable} or --smtp-password-file.
        """, ["variable": .text(passwordVariable)])
    case .noServer: Message("--smtp must name a server, such as smtp://user@mail.example.com:587.")
    }
  }
}
