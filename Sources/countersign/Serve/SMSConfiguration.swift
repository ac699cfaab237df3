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
      help: Message(
        "URL of the gateway for text messages. Its secret is in --sms-secret-file or {variable}.",
        ["variable": .text(secretVariable)])),
    Option("sms-from", "SENDER", help: Message("Sender of text messages, for the gateway.")),
    Option(
      "sms-secret-file", "FILE",
      help: Message("File with the gateway's secret on its first line.")),
    Option(
      "sms-daily", "N",
      help: Message("Maximum text messages per day for each user pool (default: 1000).")),
    Option(
      "sms-daily-per-region", "N",
      help: Message(
        "Maximum text messages per day for each user pool to numbers of one region (default: 200).")
    ),
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
        problems.append(Message("--{name} requires --sms-url.", ["name": .text(name)]), of: name)
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
        Message(
          "--sms-url requires a secret, in --sms-secret-file or {variable}.",
          ["variable": .text(Self.secretVariable)]))
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
