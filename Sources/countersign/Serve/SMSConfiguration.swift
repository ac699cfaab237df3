import Crypto
import Foundation
import HTTPClient
import Identity
import Localization
import Network
import SMS

struct SMSConfiguration: Sendable {
  let limits: SMSLimits
  private let gateway: SMSGateway
  private let url: String

  /// The environment variable with the secret; other users can read command lines.
  private static let secretVariable = "COUNTERSIGN_SMS_SECRET"

  static let options = [
    Option(
      "sms-url", "URL",
      help: Message("cli.help-sms-url", ["variable": .text(secretVariable)])),
    Option("sms-from", "SENDER", help: Message("cli.help-sms-from")),
    Option("sms-secret-file", "FILE", help: Message("cli.help-sms-secret-file")),
    Option("sms-daily", "N", help: Message("cli.help-sms-daily")),
    Option("sms-daily-per-region", "N", help: Message("cli.help-sms-daily-per-region")),
  ]

  private static let names = options.map(\.name)

  init?(
    _ arguments: Arguments, environment: [String: String], outbound: OutboundConfiguration,
    problems: inout ConfigurationProblems
  ) {
    let known = problems.count
    let limits = Self.limits(&problems)
    guard let text = arguments.value("sms-url") else {
      for name in Self.names where arguments.has(name) {
        problems.append(Message("cli.requires-sms", ["name": .text(name)]), of: name)
      }
      return nil
    }
    var url: ClientURL?
    do throws(ClientURLError) { url = try ClientURL(text) } catch {
      problems.append(error.message(of: "sms-url"), of: "sms-url")
    }
    let before = problems.count
    let secret = SecretFile(
      option: "sms-secret-file", variable: Self.secretVariable
    ).read(arguments, environment, &problems)
    if secret == nil, problems.count == before {
      problems.append(
        Message("cli.sms-url-requires-secret", ["variable": .text(Self.secretVariable)]))
    }
    guard let url, let secret, problems.count == known else { return nil }
    gateway = SMSGateway(
      url, sender: arguments.value("sms-from") ?? "", secret: secret,
      client: outbound.client(atOnce: SMSCarrier.mostAtOnce))
    self.url = url.text
    self.limits = limits
  }

  private static func limits(_ problems: inout ConfigurationProblems) -> SMSLimits {
    let usual = SMSLimits()
    return SMSLimits(
      perPool: problems.number("sms-daily", in: 1...1_000_000) ?? usual.perPool,
      perRegion: problems.number("sms-daily-per-region", in: 1...1_000_000) ?? usual.perRegion)
  }

  var carrier: any Carrier { SMSCarrier(server: url, gateway: gateway) }
}
