import Crypto
import Foundation
import SMTP

/// The SMTP server and the sender of emails to users.
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
      help: "SMTP server for emails to users: smtp://user@host:port (STARTTLS) or smtps://…. "
        + "Without it, emails are queued and can be read in the console. The password comes from "
        + "\(passwordVariable) or --smtp-password-file."),
    Option(
      "smtp-from", "ADDRESS",
      help: "Sender of emails: an address, or “Name <address>”."),
    Option("smtp-password-file", "FILE", help: "File with the SMTP password on its first line."),
    Option(
      "smtp-ca", "FILE",
      help: "CA certificates (PEM) to trust for the SMTP server (default: the system's)."),
  ]

  init?(_ arguments: Arguments, environment: [String: String], problems: inout [String]) {
    let dependent = ["smtp-from", "smtp-password-file", "smtp-ca"]
    guard let url = arguments.value("smtp") else {
      for name in dependent where arguments.has(name) {
        problems.append("--\(name) requires --smtp.")
      }
      return nil
    }
    let known = problems.count
    var server: SMTPServer?
    do { server = try SMTPServer(url) } catch { problems.append(Self.message(error)) }
    let sender = Self.sender(arguments.value("smtp-from"), &problems)
    if let file = arguments.value("smtp-ca") {
      if FileManager.default.isReadableFile(atPath: file) {
        server?.authority = file
      } else {
        problems.append("The --smtp-ca file \(file) can't be read.")
      }
    }
    let password = Self.password(arguments, environment, &problems)
    if let named = server, named.user != nil, password == nil, problems.count == known {
      problems.append(
        "--smtp has a user name. Set the password in \(Self.passwordVariable) or "
          + "--smtp-password-file.")
    }
    if server?.user != nil { server?.password = password }
    guard let server, let sender, problems.count == known else { return nil }
    self.server = server
    (self.sender, senderName) = sender
  }

  private static func sender(
    _ text: String?, _ problems: inout [String]
  ) -> (MailAddress, String?)? {
    guard let text else {
      problems.append("--smtp requires --smtp-from, the sender's address.")
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
      !name.unicodeScalars.contains(where: { $0.value < 32 || (127...159).contains($0.value) })
    else {
      problems.append(
        "--smtp-from must be an address such as accounts@example.com, or “Name <address>”.")
      return nil
    }
    return (sender, name.isEmpty ? nil : name)
  }

  private static func password(
    _ arguments: Arguments, _ environment: [String: String], _ problems: inout [String]
  ) -> Secret? {
    if let file = arguments.value("smtp-password-file") {
      guard let data = FileManager.default.contents(atPath: file),
        let line = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isNewline).first
      else {
        problems.append("The --smtp-password-file \(file) can't be read or is empty.")
        return nil
      }
      return Secret(String(line))
    }
    guard let text = environment[passwordVariable], !text.isEmpty else { return nil }
    return Secret(text)
  }

  private static func message(_ error: SMTPServerError) -> String {
    switch error {
    case .noScheme: "--smtp must begin with smtp:// or smtps://."
    case .hasPassword:
      "--smtp must not contain the password, since other users of this machine could read it. Use "
        + "\(passwordVariable) or --smtp-password-file."
    case .noServer: "--smtp must name a server, such as smtp://user@mail.example.com:587."
    }
  }
}
