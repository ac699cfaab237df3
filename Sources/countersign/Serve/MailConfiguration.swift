import Crypto
import Foundation
import Identity
import Localization
import SMTP

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
