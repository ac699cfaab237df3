import Foundation
import HTTPClient
import Identity
import Localization
import Network

struct OutboundConfiguration: Sendable {
  let addresses: AddressPolicy
  /// The path of a PEM file with CA certificates to trust instead of the system's.
  let authority: String?
  /// The way to Google's hosts.
  let googleRoute: HTTPClient.Route
  let remoteCalls = RemoteCalls()

  static let options = [
    Option(
      "outbound-ca", "FILE",
      help: Message(
        "CA certificates (PEM) to trust for connections to other servers instead of the system's.")),
    Option(
      "outbound-allow", "ADDRESSES",
      help: Message(
        """
        Private addresses that the server may connect to, such as 10.1.0.0/16, separated by commas.
        """)),
    Option(
      "outbound-proxy", "URL",
      help: Message("HTTP proxy for connections to Google, such as http://proxy.example.com:3128.")
    ),
    Option(
      "google-address", "HOST:PORT",
      help: Message("Address to connect to instead of Google's, which must have its certificates.")),
  ]

  init(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    let texts = arguments.value("outbound-allow")?.split(separator: ",") ?? []
    let ranges = texts.compactMap { AddressRange($0.trimmingCharacters(in: .whitespaces)) }
    if ranges.count != texts.count {
      problems.append(
        Message(
          "--outbound-allow must be addresses or networks such as 10.1.0.0/16, separated by commas."
        ), of: "outbound-allow")
    }
    addresses = AddressPolicy(allowing: ranges)
    authority = arguments.value("outbound-ca")
    if let authority,
      let problem = TLSFiles.problem(ofAuthorities: authority, option: "outbound-ca")
    {
      problems.append(problem, of: "outbound-ca")
    }
    let proxy = arguments.value("outbound-proxy")?.wholeMatch(of: /http:\/\/([^\/]+)\/?/)
      .flatMap { HTTPClient.Endpoint(String($0.1)) }
    let address = arguments.value("google-address").flatMap { HTTPClient.Endpoint($0) }
    googleRoute =
      proxy.map(HTTPClient.Route.proxy) ?? address.map(HTTPClient.Route.endpoint) ?? .direct
    let (hasProxy, hasAddress) = (arguments.has("outbound-proxy"), arguments.has("google-address"))
    if hasProxy, proxy == nil {
      problems.append(
        Message("--outbound-proxy must be http://HOST:PORT, without a user name or a path."),
        of: "outbound-proxy")
    }
    if hasAddress, address == nil {
      problems.append(
        Message("--google-address must be HOST:PORT, such as 10.0.0.8:443."), of: "google-address")
    }
    if hasProxy, hasAddress {
      problems.append(
        Message("--outbound-proxy and --google-address can't be used together."),
        of: "google-address")
    }
  }

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
    case .noScheme: Message("--{name} must begin with https://.", ["name": name])
    case .notEncrypted:
      Message(
        "--{name} must be https: only a server on this machine can be reached without encryption.",
        ["name": name])
    case .invalid:
      Message("--{name} must be a valid URL without a user name or fragment.", ["name": name])
    }
  }
}

extension HTTPClientError {
  /// What happened, as libcurl or the command line describes it.
  var diagnosis: String {
    switch self {
    case .unreachable(let text), .interrupted(let text), .untrusted(let text): text
    case .unresolved: OperatorText.string(Message("The server's name can't be resolved."))
    case .addressRefused:
      OperatorText.string(
        Message("The server's address is private, and --outbound-allow doesn't name it."))
    case .timedOut: OperatorText.string(Message("The server didn't respond in time."))
    case .tooLarge: OperatorText.string(Message("The server's response is too large."))
    case .canceled: OperatorText.string(Message("The request was canceled."))
    }
  }
}

struct ProviderClient: ProviderTransport {
  private let client: HTTPClient

  init(_ outbound: OutboundConfiguration) {
    // Someone waits for the answer.
    var limits = HTTPClient.Limits()
    (limits.connectSeconds, limits.wholeSeconds) = (5, 10)
    client = HTTPClient(
      limits: limits, addresses: outbound.addresses, authority: outbound.authority)
  }

  func send(_ request: ProviderRequest) async throws(ProviderUnreachable) -> ProviderResponse {
    let url: ClientURL
    do { url = try ClientURL(request.address) } catch { throw .invalidAddress }
    let fields = [("User-Agent", "countersign")] + request.fields
    let message = ClientRequest(
      request.body == nil ? .get : .post, url,
      fields: fields.compactMap { ClientRequest.Field($0.0, $0.1) }, body: request.body)
    do {
      let response = try await client.send(message)
      return ProviderResponse(status: response.status, body: response.body)
    } catch { throw .failed(error.diagnosis) }
  }

  func accepts(_ address: String) -> Bool { (try? ClientURL(address)) != nil }
}
