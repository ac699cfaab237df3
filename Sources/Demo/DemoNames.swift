/// Names of people as written, with their spelling in email addresses.
package enum DemoNames {
  /// A name as written and as spelled in an email address.
  package typealias Name = (written: String, spelt: String)

  /// Given and family names in one script.
  package struct Script: Sendable {
    package let given: [Name]
    package let family: [Name]
    /// The separator between the two names.
    package let joint: String
    package let familyFirst: Bool
    /// Names that users of the script give to devices.
    package let devices: [String]

    init(
      given: String, family: String, joint: String = " ", familyFirst: Bool = false,
      devices: [String]
    ) {
      self.given = Self.names(given)
      self.family = Self.names(family)
      self.joint = joint
      self.familyFirst = familyFirst
      self.devices = devices
    }

    /// Parses “written=spelled” pairs; a name without a separate spelling is lowercased.
    private static func names(_ text: String) -> [Name] {
      text.split(separator: " ").map { pair in
        let parts = pair.split(separator: "=")
        return (String(parts[0]), parts.count == 2 ? String(parts[1]) : parts[0].lowercased())
      }
    }
  }

  package static let latin = Script(
    given: """
      Ada Agnès=agnes Alba Anders Anouk Beatriz Bogdan Camille Carlos Chiara Dagmar Daniel Elif \
      Emeka Erik Fatou Femi François=francois Freya Giulia Grace Hanna Henrik Ingrid Isabel Jana \
      João=joao Jonas Katarzyna Kofi Lars Laura Leila Liam Łukasz=lukasz Maja Marco Maria Mateo \
      Maud Nadia Niamh Noor Olena Oscar Paula Pieter Quentin Rosa Ruth Sanne Simona Søren=soren \
      Tadeusz Teresa Ugo Vera Wanjiru Xavier Yasmin Zoë=zoe Zuzana
      """,
    family: """
      Abbott Almeida Andersen Baker Barbosa Bauer Bianchi Björk=bjork Castillo Chukwu Costa \
      Delacroix Díaz=diaz Dubois Eze Fernandes Fischer Forde Gallo García=garcia Grün=gruen Haas \
      Hansen Horváth=horvath Ito Jansen Jokinen Kaya Keller Kowalska Kruger Lindqvist Lopez Maes \
      Mbeki Mensah Moreau Müller=mueller Murphy Nagy Nowak O’Brien=obrien Okafor Oliveira Petrov \
      Popescu Quinn Ricci Rossi Santos Schmidt Silva Smit Suárez=suarez Tanaka Thomsen Ueda Vargas \
      Virtanen Weiß=weiss Wouters Yıldız=yildiz Zając=zajac
      """,
    devices: ["Phone", "Pixel 8", "iPhone", "Work phone", "Tablet", "Aegis", "Password manager"])

  package static let arabic = Script(
    given: """
      أحمد=ahmad فاطمة=fatima محمد=muhammad عائشة=aisha يوسف=yusuf مريم=maryam خالد=khalid ليلى=layla \
      عمر=omar زينب=zaynab حسن=hassan نور=nour إبراهيم=ibrahim سلمى=salma طارق=tariq هدى=huda \
      كريم=karim رانيا=rania سامي=sami دينا=dina ماجد=majid ياسمين=yasmin بلال=bilal أمينة=amina
      """,
    family: """
      الحسن=alhassan حداد=haddad النجار=alnajjar منصور=mansour الشامي=alshami خليل=khalil \
      المصري=almasri عثمان=othman الفاسي=alfasi صالح=saleh بركات=barakat القاسم=alqasim \
      الخوري=alkhoury ناصر=nasser الزهراني=alzahrani درويش=darwish السيد=alsayed عباس=abbas
      """,
    devices: ["هاتفي", "هاتف العمل", "iPhone", "Galaxy S24"])

  package static let devanagari = Script(
    given: """
      आरव=aarav दीया=diya अर्जुन=arjun अनन्या=ananya विवान=vivaan ईशा=isha रोहन=rohan काव्या=kavya \
      आदित्य=aditya मीरा=meera राहुल=rahul प्रिया=priya संजय=sanjay नेहा=neha विक्रम=vikram सुनीता=sunita \
      मोहन=mohan लक्ष्मी=lakshmi करण=karan पूजा=pooja हर्ष=harsh श्रेया=shreya दीपक=deepak उषा=usha
      """,
    family: """
      शर्मा=sharma वर्मा=verma गुप्ता=gupta सिंह=singh पटेल=patel जोशी=joshi देशपांडे=deshpande \
      कुलकर्णी=kulkarni मिश्रा=mishra यादव=yadav चौधरी=chaudhary अग्रवाल=agrawal थापा=thapa \
      नायर=nair भट्ट=bhatt राव=rao मेहता=mehta पांडे=pandey
      """,
    devices: ["मेरा फ़ोन", "ऑफ़िस का फ़ोन", "Redmi Note", "iPhone"])

  package static let chinese = Script(
    given: """
      伟=wei 芳=fang 娜=na 秀英=xiuying 敏=min 静=jing 丽=li 强=qiang 磊=lei 军=jun 洋=yang 勇=yong 艳=yan \
      杰=jie 娟=juan 涛=tao 明=ming 超=chao 秀兰=xiulan 霞=xia 平=ping 刚=gang 桂英=guiying 子涵=zihan \
      雨桐=yutong 浩然=haoran 欣怡=xinyi 思远=siyuan 嘉怡=jiayi 梓轩=zixuan
      """,
    family: """
      王=wang 李=li 张=zhang 刘=liu 陈=chen 杨=yang 黄=huang 赵=zhao 吴=wu 周=zhou 徐=xu 孙=sun 马=ma \
      朱=zhu 胡=hu 郭=guo 何=he 高=gao 林=lin 罗=luo 欧阳=ouyang 司马=sima
      """,
    joint: "", familyFirst: true, devices: ["我的手机", "工作手机", "华为 Mate", "iPhone"])

  package static let domains = ["example.com", "example.org", "example.net", "mail.test"]
}
