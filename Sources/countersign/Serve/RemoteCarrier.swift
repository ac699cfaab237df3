import HTTPClient
import IdentityToolkitClient

/// Sends the requests of one connection to another project, which wait for no other's.
struct RemoteCarrier: RemoteTransport {
  private let client: HTTPClient
  private let route: HTTPClient.Route

  init(_ project: RemoteProject, _ outbound: OutboundConfiguration) {
    var limits = HTTPClient.Limits()
    // Pages of 1,000 users with claims.
    (limits.wholeSeconds, limits.longestBody) = (25, 16 << 20)
    client = HTTPClient(
      limits: limits, addresses: outbound.addresses, authority: outbound.authority)
    // Every host of Identity Platform is Google's.
    route = project.kind == .countersign ? .direct : outbound.googleRoute
  }

  func send(_ request: RemoteRequest) async throws(RemoteFault) -> RemoteResponse {
    guard let url = try? ClientURL(request.url) else { throw RemoteFault(.unreachable) }
    let fields = [(name: "User-Agent", value: "countersign")] + request.fields
    var message = ClientRequest(
      request.body == nil ? .get : .post, url,
      fields: fields.compactMap { ClientRequest.Field($0.name, $0.value) }, body: request.body)
    message.route = route
    do throws(HTTPClientError) {
      let response = try await client.send(message)
      return RemoteResponse(
        status: response.status, date: response.fields["date"],
        retryAfter: response.fields["retry-after"], body: response.body)
    } catch {
      let cause: RemoteFault.Cause =
        switch error {
        case .addressRefused: .addressRefused
        case .untrusted: .untrusted
        case .tooLarge: .tooLarge
        case .unresolved, .unreachable, .interrupted, .timedOut, .canceled: .unreachable
        }
      throw RemoteFault(cause, error.diagnosis)
    }
  }
}
