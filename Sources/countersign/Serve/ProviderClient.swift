import HTTPClient
import Identity

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
