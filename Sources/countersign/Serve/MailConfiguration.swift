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
        "cli.help-smtp-server-for-emails-to-users", ["variable": .text(passwordVariable)])),
    Option(
      "smtp-from", "ADDRESS",
      help: Message("cli.help-sender-of-emails-an-address-or")),
    Option("smtp-password-file", "FILE", help: Message("cli.help-file-with-the-smtp-password-on")),
    Option(
      "smtp-ca", "FILE",
      help: Message("cli.help-ca-certificates-pem-to-trust-for")),
  ]

  init?(
    _ arguments: Arguments, environment: [String: String], problems: inout ConfigurationProblems
  ) {
    let dependent = ["smtp-from", "smtp-password-file", "smtp-ca"]
    guard let url = arguments.value("smtp") else {
      for name in dependent where arguments.has(name) {
        problems.append(Message("cli.requires-smtp", ["name": .text(name)]), of: name)
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
        Message("cli.smtp-has-a-user-name-set", ["variable": .text(Self.passwordVariable)]),
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
      problems.append(Message("cli.smtp-requires-smtp-from-the-senders"), of: "smtp")
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
      problems.append(Message("cli.smtp-from-must-be-an-address"), of: "smtp-from")
      return nil
    }
    return (sender, name.isEmpty ? nil : name)
  }

  private static func message(_ error: SMTPServerError) -> Message {
    switch error {
    case .noScheme: Message("cli.smtp-must-begin-with-smtp-or")
    case .hasPassword:
      Message("cli.smtp-must-not-contain-the-password", ["variable": .text(passwordVariable)])
    case .noServer: Message("cli.smtp-must-name-a-server-such")
    }
  }
}
