import HTTPClient
import Identity
import IdentityToolkitClient
import Metrics

/// Sends the requests of one connection to another project, which wait for no other's.
struct RemoteCarrier: RemoteTransport {
  private let client: HTTPClient
  private let route: HTTPClient.Route
  private let calls: RemoteCalls

  init(_ project: RemoteProject, _ outbound: OutboundConfiguration) {
    var limits = HTTPClient.Limits()
    // Pages of 1,000 users with claims.
    (limits.wholeSeconds, limits.longestBody) = (25, 16 << 20)
    client = HTTPClient(
      limits: limits, addresses: outbound.addresses, authority: outbound.authority)
    calls = outbound.remoteCalls
    // Every host of Identity Platform is Google's.
    route = project.kind == .countersign ? .direct : outbound.googleRoute
  }

  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
    guard let url = try? ClientURL(request.url) else { throw RemoteFault(.unreachable) }
    let fields = [(name: "User-Agent", value: "countersign")] + request.fields
    var message = ClientRequest(
      request.method == "PATCH" ? .patch : request.body == nil ? .get : .post, url,
      fields: fields.compactMap { ClientRequest.Field($0.name, $0.value) }, body: request.body)
    message.route = route
    do throws(HTTPClientError) {
      let response = try await client.send(message)
      calls.add(response.status)
      return RemoteResponse(
        status: response.status, date: response.fields["date"],
        retryAfter: response.fields["retry-after"], body: response.body)
    } catch {
      calls.add(nil)
      let cause: RemoteFault.Cause =
        switch error {
        case .addressRefused: .addressRefused
        case .untrusted: .untrusted
        case .tooLarge: .tooLarge
        case .unresolved, .unreachable, .interrupted, .timedOut, .canceled: .unreachable
        }
      let fault = RemoteFault(cause, error.diagnosis)
      switch error {
      case .unresolved, .unreachable: throw fault.beforeSending
      default: throw fault
      }
    }
  }
}

/// The numbers of calls to the servers of connected projects, by result.
final class RemoteCalls: Sendable {
  /// The server wants fewer calls, answers with another error, or fails.
  static let results = ["ok", "limited", "refused", "failed", "unreachable"]

  private let counters = Counters()

  /// Counts a call by the status of its response; nil without one.
  func add(_ status: Int?) {
    let index =
      switch status ?? 0 {
      case 0: 4
      case 200..<300: 0
      case 429: 1
      case 500...: 3
      default: 2
      }
    counters.add(index)
  }

  func count(_ index: Int) -> Int { counters.value(index) }
}

extension OutboundConfiguration {
  /// Creates the clients of connections, of which each has its own transport.
  var remoteClients: RemoteClients {
    { project, credential, access, namesQuotaProject in
      ToolkitClient(
        project, credential: credential, access: access, transport: RemoteCarrier(project, self),
        clock: RemoteClock(
          now: { WallClock.system.now().seconds }, steady: WallClock.sinceBoot),
        namesQuotaProject: namesQuotaProject)
    }
  }
}
