import Crypto
import Foundation
import SMTP

/// Where mails to users go, and in whose name.
struct MailConfiguration: Sendable {
  let server: SMTPServer
  let sender: MailAddress
  /// The name beside the sender's address; nil for that of the application.
  let senderName: String?

  /// The variable with the password: on a command line everybody of the machine could read it.
  private static let passwordVariable = "COUNTERSIGN_SMTP_PASSWORD"

  static let options = [
    Option(
      "smtp", "URL",
      help: "The server for mails to users: smtp://user@host:port (STARTTLS) or smtps://…; "
        + "without it mails wait to be read in the console. The user's password is taken from "
        + "\(passwordVariable) or --smtp-password-file."),
    Option(
      "smtp-from", "ADDRESS",
      help: "Who mails are from: an address, or “Name <address>”."),
    Option("smtp-password-file", "FILE", help: "A file whose first line is the password."),
    Option(
      "smtp-ca", "FILE",
      help: "Certificates (PEM) that are believed of the mail server, in place of the system's."),
  ]

  init?(_ arguments: Arguments, environment: [String: String], problems: inout [String]) {
    let dependent = ["smtp-from", "smtp-password-file", "smtp-ca"]
    guard let url = arguments.value("smtp") else {
      for name in dependent where arguments.has(name) {
        problems.append("--\(name) belongs to --smtp.")
      }
      return nil
    }
    let known = problems.count
    var server: SMTPServer?
    do { server = try SMTPServer(url) } catch { problems.append(Self.words(error)) }
    let sender = Self.sender(arguments.value("smtp-from"), &problems)
    if let file = arguments.value("smtp-ca") {
      if FileManager.default.isReadableFile(atPath: file) {
        server?.authority = file
      } else {
        problems.append("The file \(file) of --smtp-ca cannot be read.")
      }
    }
    let password = Self.password(arguments, environment, &problems)
    if let named = server, named.user != nil, password == nil, problems.count == known {
      problems.append(
        "--smtp names a user, so \(Self.passwordVariable) or --smtp-password-file must give the "
          + "password.")
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
      problems.append("--smtp needs --smtp-from, the address that mails are from.")
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
        "--smtp-from wants an address such as accounts@example.com, or “Name <address>”.")
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
        problems.append("The file \(file) of --smtp-password-file cannot be read, or is empty.")
        return nil
      }
      return Secret(String(line))
    }
    guard let text = environment[passwordVariable], !text.isEmpty else { return nil }
    return Secret(text)
  }

  private static func words(_ error: SMTPServerError) -> String {
    switch error {
    case .noScheme: "--smtp begins with smtp:// or smtps://."
    case .hasPassword:
      "--smtp must not hold the password, which everybody of this machine could read there. Put it "
        + "into \(passwordVariable) or --smtp-password-file."
    case .noServer: "--smtp wants a server such as smtp://user@mail.example.com:587."
    }
  }
}
