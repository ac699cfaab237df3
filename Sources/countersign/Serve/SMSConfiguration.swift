import Crypto
import Foundation
import HTTPClient
import Identity
import Localization
import Network
import SMS

/// The gateway that sends text messages to users, and their limits.
struct SMSConfiguration: Sendable {
  let limits: SMSLimits
  private let way: Way

  private enum Way: Sendable {
    case gateway(SMSGateway, url: String)
    /// Emails to an address with the number in it.
    case mail(before: String, after: String)
  }

  /// The environment variable with the secret; other users can read command lines.
  private static let secretVariable = "COUNTERSIGN_SMS_SECRET"
  /// The placeholder of the number in `--sms-mail`.
  private static let placeholder = "{number}"

  static let options = [
    Option(
      "sms-url", "URL",
      help: Message("cli.help-sms-url", ["variable": .text(secretVariable)])),
    Option("sms-format", "FORMAT", help: Message("cli.help-sms-format")),
    Option("sms-user", "NAME", help: Message("cli.help-sms-user")),
    Option("sms-from", "SENDER", help: Message("cli.help-sms-from")),
    Option("sms-secret-file", "FILE", help: Message("cli.help-sms-secret-file")),
    Option(
      "sms-mail", "ADDRESS", help: Message("cli.help-sms-mail", ["placeholder": .text(placeholder)])
    ),
    Option("sms-daily", "N", help: Message("cli.help-sms-daily")),
    Option("sms-daily-per-region", "N", help: Message("cli.help-sms-daily-per-region")),
  ]

  private static let names = options.map(\.name)

  init?(
    _ arguments: Arguments, environment: [String: String], hasMail: Bool,
    outbound: OutboundConfiguration, problems: inout ConfigurationProblems
  ) {
    let known = problems.count
    let limits = Self.limits(&problems)
    switch (arguments.value("sms-url"), arguments.value("sms-mail")) {
    case (nil, nil):
      for name in Self.names where arguments.has(name) {
        problems.append(Message("cli.requires-sms", ["name": .text(name)]), of: name)
      }
      return nil
    case (_?, _?):
      problems.append(Message("cli.sms-url-and-sms-mail"), of: "sms-mail")
      return nil
    case (let url?, nil):
      guard let way = Self.gateway(url, arguments, environment, outbound, &problems)
      else { return nil }
      self.way = way
    case (nil, let address?):
      let parts = address.components(separatedBy: Self.placeholder)
      if !hasMail {
        problems.append(
          Message("cli.requires-smtp", ["name": .text("sms-mail")]), of: "sms-mail")
      }
      guard parts.count == 2, address.contains("@") else {
        problems.append(
          Message("cli.sms-mail-must-have", ["placeholder": .text(Self.placeholder)]),
          of: "sms-mail")
        return nil
      }
      way = .mail(before: parts[0], after: parts[1])
    }
    guard problems.count == known else { return nil }
    self.limits = limits
  }

  private static func limits(_ problems: inout ConfigurationProblems) -> SMSLimits {
    let usual = SMSLimits()
    return SMSLimits(
      perPool: problems.number("sms-daily", in: 1...1_000_000) ?? usual.perPool,
      perRegion: problems.number("sms-daily-per-region", in: 1...1_000_000) ?? usual.perRegion)
  }

  private static func gateway(
    _ text: String, _ arguments: Arguments, _ environment: [String: String],
    _ outbound: OutboundConfiguration, _ problems: inout ConfigurationProblems
  ) -> Way? {
    var url: ClientURL?
    do throws(ClientURLError) { url = try ClientURL(text) } catch {
      problems.append(error.message(of: "sms-url"), of: "sms-url")
    }
    let word = arguments.value("sms-format") ?? SMSGateway.Format.webhook.rawValue
    let format = SMSGateway.Format(rawValue: word)
    if format == nil {
      problems.append(
        Message("cli.sms-format-must-be", ["word": .text(word)]), of: "sms-format")
    }
    let (user, sender) = (arguments.value("sms-user") ?? "", arguments.value("sms-from") ?? "")
    if format == .twilio, user.isEmpty || sender.isEmpty {
      problems.append(Message("cli.sms-twilio-requires"), of: "sms-format")
    }
    let known = problems.count
    let secret = SecretFile(
      option: "sms-secret-file", variable: secretVariable
    ).read(arguments, environment, &problems)
    if secret == nil, problems.count == known {
      problems.append(
        Message("cli.sms-url-requires-secret", ["variable": .text(secretVariable)]))
    }
    guard let url, let format, let secret else { return nil }
    return .gateway(
      SMSGateway(
        url, format, sender: sender, user: user, secret: secret,
        client: outbound.client(atOnce: SMSCarrier.mostAtOnce)),
      url: url.text)
  }

  /// Returns the carrier; `mail` is the mail server for emails that become text messages.
  func carrier(mail: MailConfiguration?) -> any Carrier {
    switch way {
    case .gateway(let gateway, let url): return SMSCarrier(server: url, gateway: gateway)
    case .mail(let before, let after):
      guard let mail else { preconditionFailure("validated with the other options") }
      // Gateways expect the number without its plus sign.
      return MailCarrier(.sms, mail) { "\(before)\($0.drop { $0 == "+" })\(after)" }
    }
  }
}
