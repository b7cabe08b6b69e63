"""Letters for pictures: ASCII in a size that is read on a screen, of the typeface Aileron (public domain, CC0)."""

from __future__ import annotations

import base64
import functools
import zlib

import numpy as np

HEIGHT = 15
_CHARACTERS = [*map(chr, range(32, 127)), "\N{HORIZONTAL ELLIPSIS}"]
_WIDTHS = "bbcffhgbccffbbbcffffffffffbbfffejgfhgffhhbfffighfhfeggfjgfgcccfecfffgfbgfbbebjfffgcecfeheefcbbfh"
"""Of each in pixels, from "a" for 2 on."""
_PIXELS = (  # all of them side by side, four bits for each pixel, compressed
    "c-rk(YiwLc75--KKE1ont)(i&&r4cS2(f1?RiaAc%_={TkZi{YQCez;B|;DsJ6cr&5vRr*kf_rH^~OIM6Jc<iMj@3_wlQ)dD$|YA#u1X~^&^Sn?2"
    "Xq>V@grVU5hmC4@aE2d)I4Irvz0(fI2JRnK|do>&!RbIR-v0pO*hr;nwnA-#7l3_Fgj%G#ejd@TE_<KvAD{vCtEI-omkjdwK{xF;7Yv9EHFpjIJ2"
    "+I6E~7*Pq}T8A4M!40P~YW&*8KWu}=?2B)-"
    "AQ(w8rX0qC3b^##+!hDlPPO8G3(u8SlT{I_9XC9(U;+BB@@eI+8i6n|G(M$3=v!5@Tr>X9fwQJ;Pg}Im(WZDLt)bSod5tYwefKTr+r@0lN!Op^ut"
    "-OC*Tp4p@>zFPIrXMXVzB-(;Ldh%xmk{{;*D-fTuWDf9xFkhIF<)%?5MTHRyWoA-Vza(vt@<2YtMvqlpTS9>8*?}iNEEGHEY#S7_UPJCC?jERc?{"
    "P$J4t)qzTV31xLzykm7AC6ppR=*x^7Wbrum{K&=B>^3V4%Fox0)IA^k<B85B36)?k_a7;qVE7Vswox}>s3lPkZr<ftXz<s2yTf|c)SMY)GFg?+Wl"
    "LFRr+6I(vVZX2C6=0W<KC2uUBAz2*uB)=-~O+?%=@^_%aO`r;fc^s9hfHITC=5m$-"
    "6lqN#mQXUy8z$Rybjmp+xB#A^+4hUv0fI4XS_U#cZoBR{_E=&kw@B;nvJlDFLVd*c7kz?J*SV~>U3-"
    "R&??NEn4Y)?h<8e~@b~;`foZugrI_tTNb>@rkjU?VMsKM`;QTyn71z#|~LY?*rGDwKltJ01yBwMdlFRr(^^%iO_u{)Sbgz6fVOpj^F9a<|G%%A?N"
    "`WFkn%hf6-q@W6l0a1YW7g!bzcF&UpI|27;t8MTQyFIcGz67qY?kd$aqpt%t^j4TAelKr(fADGjVlzUIrMTryRH<Mz-Zhp38O>+c4#=_-_G-"
    "8F;5MEe6;fMIE;#Dc`cxPW$k2(yq3FxUeR21QhDd~_m16^>WXWW1w<p|&(97e$VB>zh%<}8yJ1p4{i5C0lO(m9y?T)qb1y8C-"
    "FMsw!Hf*coRq6pja|y5R?bhp(HI<L_?!g}5H)!A%9bh>U1Eo;j9-=x5<^Aa~xwi<mTG2enyio#D#y-^zxE8}~O!&{0>LO95vl+PV-"
    "VL8+uS)kH3ETEh5QA-gAUhxUT810N#9ni@?`eEQm}%msq(Fs9wdsKDb^AI*1sk)3e}@z*vy0}TTzx&oe>Ic`nPP;r!y%7;9>u-Dt3(F-rK*dR-"
    "}N-wt1Bhjc^1uUR9AQ&+mOXB0c!AhB_lyrtI-uHS?XvJk~ay}ZAf*N&8a1XCvMf?e4TH%N8dHdGr=fY=t&41@lBQ%KvsS0J@5~ca2<a=Je&vF+Ba"
    "TunTuoaU88522N}CeLk{9Fw;n(}?W>+Pj4SvhJ9S2et9P7haM8=vh#_a|@MH7OH15b62V_GIlVzb;IgoMsEZodNy8kH>Y|MiUPF)d2X)+J8&_gNr"
    "vE;@|cus|(kU_0VQg@7AtXh^^z4aBETA8(1qE$@uv}HGJLgI@F`8MqickCiLwep8Psn~)yD=>4q|2W=7@KHk&qz$q|&&3NMd;B|iQbd5E`FddsB$"
    "Ea9EHT*zNG78m8-_ouWGc<+D`CZ0qbf$FCij)uhwn>IomH7>8u-lbfGC@v|5i~v7<H$lfx~3o1t#mrF&W_|BV0FZka^p-"
    "(#{9+Oa`a!{4!yl4CwJ2c>a0Rd=EE!`Dl~9zfe@F%9hb~m9~X0v#v^0KAQvCLxM>Z<p@b^kJ`@4`OOBI>zu7-+PWbUyDjfaiK1p-"
    "yV^E}AMKQzSjl9J(Cv9z^S*OCg&$NsZ2Vp7WVrOie(Eq;DdC;Mr6h}C;05|ob1yw``uQjZ+{6pPc=@9=5t<Tmz(IN+r3n7;%z-$Cw<-"
    "#eZ4@rg&}^+G4#=9d%?`+lqkFmKv%{se(U76@Z6{np)?<`?9GmsZ`@%&E&#plY>1fda25>^|Pi}xzM+-"
    "+{^FCs&ve;QZTSN?16fb+$k_`uBR>S%N$Rv|3uz{R9qBRS(D*9Vg_oIcVta@!P|6|yfEQHHa)=O`*oLWCg!vDAPbjtQi?vXSJ3OSiVWS@EsGAE;D"
    "er=}NsjI4N_Do8ljPR6`sb5S-%N6pOTaJ+*ik*>f^L>&#2PhX)-6O-4n_Z>6%-kUl*LrQ66E5qnQA!c$yZio}z?2k(C?~t#Z@ZxG`dzZF^-"
    "y{ytp{o8;uQQDbZ9N$v(i^Yhjb0@SOH|-"
    "TQ8O@m~lS%7E03{D5Z!f8+nl7U}e`5$Yi+u`IVd+t?B59x_j8dAovIDP9PR)3>vh+Xg()nDLW@vHSzCSO8hB=!*hS>@z4ILzsWrI$&>nr?=SIx&`"
    "$i_rrEfvML=^I_ei>O2ftUI*11aJ|1U~NyKmE=`rrHC)JdGpN2S#>*L&ozLG5GH+yCQ|BNHkM{~pNdV;_Bj{{Xru9i0"
)


@functools.cache
def _letters() -> dict[str, np.ndarray]:
    """How much of each pixel is covered: floats of HEIGHT x width."""
    widths = [2 + ord(each) - ord("a") for each in _WIDTHS]
    packed = np.frombuffer(zlib.decompress(base64.b85decode(_PIXELS)), np.uint8)
    pixels = np.stack([packed >> 4, packed & 15], axis=1).ravel()[: HEIGHT * sum(widths)]
    parts = np.split(pixels.reshape(HEIGHT, -1).astype(np.float32) / 15, np.cumsum(widths)[:-1], axis=1)
    return dict(zip(_CHARACTERS, parts, strict=True))


def written(text: str, most: int | None = None) -> np.ndarray:
    """The text in one line, as HEIGHT x width of what is covered; shortened where it is wider than `most` pixels."""
    letters = _letters()
    row = [letters.get(each, letters["?"]) for each in text]
    if most is not None and sum(each.shape[1] for each in row) > most:
        end = letters["\N{HORIZONTAL ELLIPSIS}"]
        left = most - end.shape[1]
        while row and sum(each.shape[1] for each in row) > left:
            row.pop()
        row.append(end)
    return np.concatenate(row, axis=1) if row else np.zeros((HEIGHT, 0), np.float32)
