import Crypto
import JSON
import Testing
import Text

@testable import HTTPClient
@testable import SMS

struct SMSGatewayTests {
  private let message = TextMessage(
    id: "7.1000", recipient: "+4915112345678", text: "123456 is your code & “more”.",
    purpose: "sms-sign-in", project: "acme", tenant: "", createdAt: 1_795_183_500)

  private func field(_ name: String, of request: ClientRequest) -> String? {
    request.fields.first { $0.name == name }?.value
  }

  @Test func `a gateway gets a signed JSON object`() throws {
    let gateway = SMSGateway(
      try ClientURL("https://sms.example.com/send"), sender: "+4930123", secret: Secret("key"),
      client: HTTPClient())
    let request = try gateway.request(message, at: 1_795_183_501)
    let body = try #require(request.body)
    let json = try JSON.parse(body)
    #expect(json["to"]?.textValue?.text == "+4915112345678")
    #expect(json["text"]?.textValue?.text == "123456 is your code & “more”.")
    #expect(json["from"]?.textValue?.text == "+4930123")
    #expect(json["purpose"]?.textValue?.text == "sms-sign-in")
    let code = try HMAC.code(
      .sha256, key: Secret("key"), message: Array("1795183501.".utf8) + body)
    #expect(field("Countersign-Signature", of: request) == "t=1795183501,v1=\(Hex.encode(code))")
    #expect(field("Idempotency-Key", of: request) == "7.1000")
  }

  @Test func `the signature covers body, time, and secret`() throws {
    func sign(_ body: String, _ seconds: Int64, _ secret: String) throws -> String {
      try WebhookSignature.value(for: Array(body.utf8), at: seconds, with: Secret(secret))
    }
    let values = try [sign("a", 1, "k"), sign("b", 1, "k"), sign("a", 2, "k"), sign("a", 1, "l")]
    #expect(Set(values).count == 4)
    #expect(try sign("a", 1, "k") == values[0])
  }

  @Test(arguments: [
    HTTPClientError.unresolved, .addressRefused, .unreachable("refused"), .untrusted("expired"),
  ])
  func `a gateway that no message reaches is unreachable`(_ error: HTTPClientError) {
    #expect(SMSGateway.outcome(error) == .unreachable(error))
  }

  @Test(arguments: [HTTPClientError.timedOut, .tooLarge, .canceled, .interrupted("reset")])
  func `an error that other messages may not have doesn't keep them waiting`(
    _ error: HTTPClientError
  ) {
    #expect(SMSGateway.outcome(error) == .interrupted(error))
  }

  @Test(arguments: [
    (200, SMSOutcome.accepted), (204, .accepted), (400, .refused("400 no")),
    (404, .refused("404 no")), (401, .unauthorized("401 no")), (403, .refused("403 no")),
    (302, .refused("302 no")), (408, .postponed("408 no")),
    (429, .postponed("429 no")), (500, .postponed("500 no")), (503, .postponed("503 no")),
  ])
  func `a status decides whether to send again`(_ status: Int, _ outcome: SMSOutcome) {
    let response = ClientResponse(status: status, fields: [:], body: Array("no\r\n\u{7}".utf8))
    #expect(SMSGateway.outcome(response) == outcome)
  }
}
