import HTTPClient
import Identity
import JSON

/// Sends events in signed HTTP requests.
struct WebhookCarrier: EventCarrier {
  private let url: ClientURL
  private let client: HTTPClient

  init(_ url: ClientURL, _ client: HTTPClient) {
    (self.url, self.client) = (url, client)
  }

  func cancel() {}

  func deliver(_ batch: EventBatch) async -> EventAttempt {
    let body = Self.body(batch).serialized()
    do {
      let response = try await client.send(try request(body, batch))
      return Self.attempt(response)
    } catch let error as HTTPClientError {
      return .postponed(error.diagnosis)
    } catch {
      return .postponed("\(error)")
    }
  }

  private static func body(_ batch: EventBatch) -> JSON {
    [
      "schema": "countersign-events/1", "stream": .string(batch.stream.id.text),
      "events": .array(batch.events.map(\.json)),
    ]
  }

  private func request(_ body: [UInt8], _ batch: EventBatch) throws -> ClientRequest {
    var fields = [("Content-Type", "application/json"), ("User-Agent", "countersign")]
    if let secret = batch.secret {
      // The age of a request is that of its signature, so it's signed right before it's sent.
      let now = WallClock.system.now().seconds
      fields.append(
        (WebhookSignature.field, try WebhookSignature.value(for: body, at: now, with: secret)))
    }
    var request = ClientRequest(
      .post, url, fields: fields.compactMap { ClientRequest.Field($0.0, $0.1) }, body: body)
    request.isAnsweredByStatus = true
    return request
  }

  /// The statuses with which a receiver says something about events: other 4xx are about the
  /// address or the signature, and other 5xx about the receiver itself.
  private static let refusals: Set = [400, 409, 413, 415, 422, 500]

  static func attempt(_ response: ClientResponse) -> EventAttempt {
    if (200..<300).contains(response.status) { return .delivered }
    let words = ResponseText.line(response.body.prefix(longestText))
    let text = words.isEmpty ? "HTTP \(response.status)" : "HTTP \(response.status): \(words)"
    return refusals.contains(response.status) ? .refused(text) : .postponed(text)
  }

  private static let longestText = 200
}
