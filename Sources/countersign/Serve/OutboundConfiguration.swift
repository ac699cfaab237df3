import Foundation
import HTTPClient
import Localization
import Network

struct OutboundConfiguration: Sendable {
  let addresses: AddressPolicy
  /// The path of a PEM file with CA certificates to trust instead of the system's.
  let authority: String?

  static let options = [
    Option("outbound-ca", "FILE", help: Message("cli.help-outbound-ca")),
    Option("outbound-allow", "ADDRESSES", help: Message("cli.help-outbound-allow")),
  ]

  init(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    let texts = arguments.value("outbound-allow")?.split(separator: ",") ?? []
    let ranges = texts.compactMap { AddressRange($0.trimmingCharacters(in: .whitespaces)) }
    if ranges.count != texts.count {
      problems.append(Message("cli.outbound-allow-must-be"), of: "outbound-allow")
    }
    addresses = AddressPolicy(allowing: ranges)
    authority = arguments.value("outbound-ca")
    if let authority,
      let problem = TLSFiles.problem(ofAuthorities: authority, option: "outbound-ca")
    {
      problems.append(problem, of: "outbound-ca")
    }
  }

  var client: HTTPClient { client(atOnce: HTTPClient.Limits().mostRequests) }

  func client(atOnce count: Int) -> HTTPClient {
    var limits = HTTPClient.Limits()
    limits.mostRequests = count
    return HTTPClient(limits: limits, addresses: addresses, authority: authority)
  }
}

extension ClientURLError {
  func message(of option: String) -> Message {
    let name = Message.Value.text(option)
    return switch self {
    case .noScheme: Message("cli.url-must-begin-with-https", ["name": name])
    case .notEncrypted: Message("cli.url-must-be-https", ["name": name])
    case .invalid: Message("cli.url-must-be-valid", ["name": name])
    }
  }
}

extension HTTPClientError {
  /// What happened, as libcurl or the command line describes it.
  var diagnosis: String {
    switch self {
    case .unreachable(let text), .interrupted(let text), .untrusted(let text): text
    case .unresolved: OperatorText.string(Message("cli.outbound-unresolved"))
    case .addressRefused: OperatorText.string(Message("cli.outbound-address-refused"))
    case .timedOut: OperatorText.string(Message("cli.outbound-timed-out"))
    case .tooLarge: OperatorText.string(Message("cli.outbound-too-large"))
    case .canceled: OperatorText.string(Message("cli.outbound-canceled"))
    }
  }
}
